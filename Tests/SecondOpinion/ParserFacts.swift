import SwiftParser
import SwiftSyntax

/// The facts that the toolchain's own parser finds; nothing of the reader is used.
struct ParserFacts {
  /// The facts; none of a file with an error.
  private(set) var facts = Facts()
  let hasError: Bool
  private let converter: SourceLocationConverter

  /// The place of a declaration.
  private struct Place {
    var path: [String] = []
    /// True in a branch of `#if` within the type, and in an extension that stands in one.
    var isConditional = false
    var isPrivate = false
    /// True among what a protocol requires.
    var isProtocol = false
  }

  init(_ bytes: [UInt8]) {
    let tree = bytes.withUnsafeBufferPointer { Parser.parse(source: $0) }
    converter = SourceLocationConverter(fileName: "", tree: tree)
    hasError = tree.hasError
    if !hasError { read(tree.statements, in: Place()) }
  }

  private func line(_ syntax: some SyntaxProtocol) -> Int {
    converter.location(for: syntax.positionAfterSkippingLeadingTrivia).line
  }

  /// The tokens of a part, with nothing between them.
  private static func text(_ syntax: some SyntaxProtocol) -> String {
    syntax.tokens(viewMode: .sourceAccurate).map { Facts.bare($0.text) }.joined()
  }

  // MARK: - Lists

  private mutating func read(_ items: CodeBlockItemListSyntax, in place: Place) {
    for item in items {
      if case .decl(let declaration) = item.item { read(declaration, in: place) }
    }
  }

  private mutating func read(_ items: MemberBlockItemListSyntax, in place: Place) {
    for item in items { read(item.decl, in: place) }
  }

  private mutating func read(_ declaration: DeclSyntax, in place: Place) {
    let isName = declaration.is(TypeAliasDeclSyntax.self) || declaration.is(AssociatedTypeDeclSyntax.self)
    guard !place.isProtocol || isName || declaration.is(IfConfigDeclSyntax.self) else { return }
    switch declaration.as(DeclSyntaxEnum.self) {
    case .ifConfigDecl(let condition):
      var inside = place
      inside.isConditional = true
      for clause in condition.clauses {
        switch clause.elements {
        case .statements(let items)?: read(items, in: inside)
        case .decls(let items)?: read(items, in: inside)
        default: break
        }
      }
    case .importDecl(let module):
      if let name = module.path.first?.name.text { facts.add("imports", line: 0, [name]) }
    case .classDecl(let type): read(type, "class", type.classKeyword, type.name, type.genericParameterClause, place)
    case .structDecl(let type): read(type, "struct", type.structKeyword, type.name, type.genericParameterClause, place)
    case .enumDecl(let type): read(type, "enum", type.enumKeyword, type.name, type.genericParameterClause, place)
    case .actorDecl(let type): read(type, "actor", type.actorKeyword, type.name, type.genericParameterClause, place)
    case .protocolDecl(let type):
      add(
        type, "protocol", type.protocolKeyword, path: place.path + [Self.name(type.name)],
        isGeneric: type.primaryAssociatedTypeClause != nil, place)
      // What a protocol requires is what others have; the reader takes its names of types alone.
      read(
        type.memberBlock.members,
        in: Place(
          path: place.path + [Self.name(type.name)], isPrivate: place.isPrivate || isPrivate(type.modifiers),
          isProtocol: true))
    case .extensionDecl(let type): read(type, in: place)
    case .variableDecl(let variable): add(variable, in: place)
    case .enumCaseDecl(let declaration):
      for item in declaration.elements { add(item, in: place) }
    case .typeAliasDecl(let alias):
      facts.add(
        "aliases", line: 0, place.path + [Self.name(alias.name)],
        [
          "type": alias.genericParameterClause == nil ? written(alias.initializer.value) : Self.name(alias.name),
          "conditional": Facts.mark(place.isConditional || isCut(alias.attributes)),
          "private": Facts.mark(place.isPrivate || isPrivate(alias.modifiers)),
        ])
    case .associatedTypeDecl(let type):
      facts.add(
        "aliases", line: 0, place.path + [Self.name(type.name)],
        [
          "type": "associatedtype", "conditional": Facts.mark(place.isConditional || isCut(type.attributes)),
          "private": Facts.mark(place.isPrivate || isPrivate(type.modifiers)),
        ])
    default: break
    }
  }

  // MARK: - Types

  private typealias Body = DeclGroupSyntax & WithAttributesSyntax & WithModifiersSyntax

  private mutating func read(
    _ type: some Body, _ kind: String, _ keyword: TokenSyntax, _ name: TokenSyntax,
    _ parameters: GenericParameterClauseSyntax?, _ place: Place
  ) {
    let path = place.path + [Self.name(name)]
    add(type, kind, keyword, path: path, isGeneric: parameters != nil, place)
    read(
      type.memberBlock.members,
      in: Place(path: path, isPrivate: place.isPrivate || isPrivate(type.modifiers)))
  }

  private mutating func read(_ type: ExtensionDeclSyntax, in place: Place) {
    let extended = canonical(type.extendedType)
    let path = extended.isName ? extended.text.split(separator: ".").map(String.init) : [Self.text(type.extendedType)]
    add(type, "extension", type.extensionKeyword, path: path, isGeneric: !extended.isName, place)
    read(
      type.memberBlock.members,
      in: Place(
        path: path, isConditional: place.isConditional || isCut(type.attributes),
        isPrivate: place.isPrivate || isPrivate(type.modifiers)))
  }

  private mutating func add(
    _ type: some Body, _ kind: String, _ keyword: TokenSyntax, path: [String], isGeneric: Bool, _ place: Place
  ) {
    let inherited = type.inheritanceClause?.inheritedTypes.map { written($0.type) } ?? []
    let members = kind == "protocol" ? [] : Self.flat(type.memberBlock.members)
    facts.add(
      "types", line: line(keyword), path,
      [
        "kind": kind, "attributes": names(type.attributes), "inherits": inherited.joined(separator: ","),
        "generic": Facts.mark(isGeneric), "conditional": Facts.mark(place.isConditional || isCut(type.attributes)),
        "private": Facts.mark(place.isPrivate || isPrivate(type.modifiers)),
        "functions": Set(members.compactMap(Self.coding)).sorted().joined(separator: ","),
        "macros": members.compactMap(Self.macro).joined(separator: ","),
      ])
  }

  /// The members with those in branches of `#if`.
  private static func flat(_ items: MemberBlockItemListSyntax) -> [DeclSyntax] {
    items.flatMap { item -> [DeclSyntax] in
      guard let condition = item.decl.as(IfConfigDeclSyntax.self) else { return [item.decl] }
      return condition.clauses.flatMap { clause -> [DeclSyntax] in
        if case .decls(let items)? = clause.elements { flat(items) } else { [] }
      }
    }
  }

  private static func macro(_ declaration: DeclSyntax) -> String? {
    guard let macro = declaration.as(MacroExpansionDeclSyntax.self) else { return nil }
    return "\(name(macro.macroName))(\(text(macro.arguments)))"
  }

  /// The function that tells how a type is coded or made.
  private static func coding(_ declaration: DeclSyntax) -> String? {
    func takes(_ label: String, _ type: String, _ signature: FunctionSignatureSyntax) -> Bool {
      let parameters = signature.parameterClause
      return parameters.parameters.first?.firstName.text == label
        && parameters.tokens(viewMode: .sourceAccurate).contains { $0.text == type }
    }
    if let function = declaration.as(FunctionDeclSyntax.self) {
      return function.name.text == "encode" && takes("to", "Encoder", function.signature) ? "encode(to:)" : nil
    }
    guard let initializer = declaration.as(InitializerDeclSyntax.self) else { return nil }
    if initializer.optionalMark != nil { return "init?" }
    return takes("from", "Decoder", initializer.signature) ? "init(from:)" : nil
  }

  // MARK: - Properties and cases

  private mutating func add(_ variable: VariableDeclSyntax, in place: Place) {
    let modifiers = variable.modifiers.map(\.name.text)
    for binding in variable.bindings {
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
      facts.add(
        "properties", line: line(binding.pattern),
        place.path + [name.map(Self.name) ?? Self.text(binding.pattern)],
        [
          "type": binding.typeAnnotation.map { written($0.type) } ?? "", "attributes": names(variable.attributes),
          "value": binding.initializer.map { Self.text($0.value) } ?? "",
          "computed": Facts.mark(Self.isComputed(binding)),
          "static": Facts.mark(modifiers.contains("static") || modifiers.contains("class")),
          "lazy": Facts.mark(modifiers.contains("lazy") || name == nil),
          "constant": Facts.mark(variable.bindingSpecifier.text == "let"),
          "quoted": Facts.mark(name?.text.hasPrefix("`") ?? false),
          "conditional": Facts.mark(place.isConditional || isCut(variable.attributes)),
        ])
    }
  }

  private static func isComputed(_ binding: PatternBindingSyntax) -> Bool {
    guard let block = binding.accessorBlock, binding.initializer == nil else { return false }
    guard case .accessors(let list) = block.accessors else { return true }
    return !list.contains { ["didSet", "willSet"].contains($0.accessorSpecifier.text) }
  }

  private mutating func add(_ item: EnumCaseElementSyntax, in place: Place) {
    facts.add(
      "cases", line: line(item.name), place.path + [Self.name(item.name)],
      [
        "values": item.parameterClause.map { Self.text($0) } ?? "",
        "raw": item.rawValue.map { Self.text($0.value) } ?? "",
        "quoted": Facts.mark(item.name.text.hasPrefix("`")), "conditional": Facts.mark(place.isConditional),
      ])
  }

  // MARK: - Words

  /// A name without backticks.
  private static func name(_ token: TokenSyntax) -> String { token.text.filter { $0 != "`" } }

  private func isPrivate(_ modifiers: DeclModifierListSyntax) -> Bool {
    modifiers.contains { ["private", "fileprivate"].contains($0.name.text) }
  }

  /// True where a condition stands among attributes.
  private func isCut(_ attributes: AttributeListSyntax) -> Bool {
    attributes.contains { if case .ifConfigDecl = $0 { true } else { false } }
  }

  private func names(_ attributes: AttributeListSyntax) -> String {
    all(attributes).map { attribute in
      let name = canonical(attribute.attributeName).text.split(separator: ".").last.map(String.init) ?? ""
      return "\(name)(\(attribute.arguments.map { Self.text($0) } ?? ""))"
    }.joined(separator: ",")
  }

  private func all(_ attributes: AttributeListSyntax) -> [AttributeSyntax] {
    attributes.flatMap { element -> [AttributeSyntax] in
      switch element {
      case .attribute(let attribute): return [attribute]
      case .ifConfigDecl(let condition):
        return condition.clauses.flatMap { clause -> [AttributeSyntax] in
          if case .attributes(let inside)? = clause.elements { all(inside) } else { [] }
        }
      @unknown default: return []
      }
    }
  }

  // MARK: - Written types

  /// A type in the form of the reader: with the short forms of optionals, arrays and dictionaries.
  private struct Written {
    let text: String
    /// True for names with points between them.
    var isName = false
    /// True for a type that the reader keeps as it is written.
    var isWhole = false
  }

  private func written(_ type: TypeSyntax) -> String { canonical(type).text }

  private func canonical(_ type: TypeSyntax) -> Written {
    let whole = Written(text: Self.text(type), isWhole: true)
    switch type.as(TypeSyntaxEnum.self) {
    case .optionalType(let type): return Written(text: "\(written(type.wrappedType))?")
    case .arrayType(let type): return Written(text: "[\(written(type.element))]")
    case .dictionaryType(let type): return Written(text: "[\(written(type.key)):\(written(type.value))]")
    case .attributedType(let type):
      let inner = canonical(type.baseType)
      return inner.isWhole ? whole : inner
    case .someOrAnyType(let type):
      let inner = canonical(type.constraint)
      return inner.isWhole ? whole : inner
    case .tupleType(let type):
      guard let single = type.elements.first, type.elements.count == 1, single.firstName == nil else { return whole }
      return canonical(single.type)
    case .memberType(let type):
      let base = canonical(type.baseType)
      guard base.isName, type.genericArgumentClause == nil else { return sugared(type.name, type) ?? whole }
      let text = "\(base.text).\(Self.name(type.name))"
      return Written(text: text.hasPrefix("SwiftData.") ? String(text.dropFirst(10)) : text, isName: true)
    case .identifierType(let type):
      guard let arguments = type.genericArgumentClause else { return Written(text: Self.name(type.name), isName: true) }
      return sugared(Self.name(type.name), arguments) ?? whole
    default: return whole
    }
  }

  /// The short form of `Swift.Array<T>` and the like.
  private func sugared(_ name: TokenSyntax, _ type: MemberTypeSyntax) -> Written? {
    guard let arguments = type.genericArgumentClause, written(type.baseType) == "Swift" else { return nil }
    return sugared(Self.name(name), arguments)
  }

  private func sugared(_ name: String, _ clause: GenericArgumentClauseSyntax) -> Written? {
    let arguments = clause.arguments.compactMap { argument -> String? in
      if case .type(let type) = argument.argument { written(type) } else { nil }
    }
    switch (name, arguments.count) {
    case ("Optional", 1): return Written(text: "\(arguments[0])?")
    case ("Array", 1): return Written(text: "[\(arguments[0])]")
    case ("Dictionary", 2): return Written(text: "[\(arguments[0]):\(arguments[1])]")
    default: return nil
    }
  }
}
