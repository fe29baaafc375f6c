/// Parses a file's declarations; skips the bodies of functions.
struct SwiftDeclarationReader {
  private let source: SwiftTokens
  private let file: Int
  private(set) var declarations: [SwiftDeclaration] = []
  private var position = 0

  private static let depthLimit = 64

  init(_ source: SwiftTokens, file: Int) throws(SwiftSourceError) {
    (self.source, self.file) = (source, file)
    var top = SwiftDeclaration(kind: .extension, path: [], place: SwiftPlace(file: file, line: 1))
    try readMembers(of: &top, until: source.count, depth: 0)
    if !top.aliases.isEmpty || !top.properties.isEmpty { declarations.append(top) }
  }

  /// Attributes and modifiers before a declaration.
  private struct Prefix {
    var attributes: [SwiftAttribute] = []
    var modifiers: Set<String> = []
    /// A condition interrupts it.
    var isCut = false

    var isPrivate: Bool { modifiers.contains("private") || modifiers.contains("fileprivate") }

    mutating func append(_ other: Prefix) {
      attributes += other.attributes
      modifiers.formUnion(other.modifiers)
      isCut = isCut || other.isCut
    }
  }

  private static let modifiers: Set<String> = [
    "public", "private", "fileprivate", "internal", "open", "package", "final", "static", "lazy", "weak", "unowned",
    "override", "required", "convenience", "mutating", "nonmutating", "indirect", "dynamic", "optional", "nonisolated",
    "isolated", "distributed", "prefix", "postfix", "infix", "consuming", "borrowing", "sending",
  ]
  private static let keywords: Set<String> = [
    "class", "struct", "enum", "actor", "protocol", "extension", "var", "let", "func", "init", "deinit", "subscript",
    "typealias", "case", "import", "associatedtype", "operator", "precedencegroup", "macro",
  ]

  private var place: SwiftPlace { SwiftPlace(file: file, line: source.line(position)) }

  private mutating func readMembers(
    of owner: inout SwiftDeclaration, until end: Int, depth: Int
  ) throws(SwiftSourceError) {
    guard depth < Self.depthLimit else {
      throw SwiftSourceError(
        line: source.line(position), reason: "types are nested more than \(Self.depthLimit) levels deep")
    }
    var conditions = 0
    // The prefix before a condition that separates it from its declaration.
    var cut = Prefix()
    while position < end {
      if source.has("#", at: position) {
        readNumberSign(&owner, conditions: &conditions)
        continue
      }
      cut.append(prefix())
      guard position < end else { return }
      if isCondition(position) {
        cut.isCut = true
        continue
      }
      let prefix = cut
      cut = Prefix()
      let word = source.tokens[position].kind == .word ? source.text(position) : ""
      let isInConditionalExtension = owner.kind == .extension && owner.isConditional
      let isConditional = conditions > 0 || prefix.isCut || isInConditionalExtension
      let isNamed = source.isWord(at: position + 1)
      switch word {
      case "class" where isNamed, "struct" where isNamed, "enum" where isNamed, "actor" where isNamed,
        "protocol" where isNamed,
        "extension" where isNamed || source.has("[", at: position + 1) || source.has("(", at: position + 1):
        try readType(word, prefix, in: owner, isConditional: isConditional, depth: depth)
      case "var" where isNamed || source.has("(", at: position + 1),
        "let" where isNamed || source.has("(", at: position + 1):
        readProperties(&owner, prefix, isConditional: isConditional, until: end)
      case "typealias" where isNamed:
        readAlias(&owner, prefix, isConditional: isConditional)
      case "associatedtype" where isNamed:
        // Its meaning depends on the conforming type.
        owner.aliases.append(
          SwiftAlias(
            name: source.text(position + 1), type: .other(word), scope: owner.scope, isConditional: isConditional,
            isPrivate: prefix.isPrivate || owner.isPrivate))
        position += 1
        skipDeclaration(until: end)
      case "case" where owner.kind == .enumeration:
        readCases(&owner, isConditional: isConditional, until: end)
      case "import":
        skipLine()
      case "func", "init", "deinit", "subscript", "operator", "precedencegroup", "macro":
        noteFunction(&owner)
        position += 1
        skipDeclaration(until: end)
      default:
        position = source.next(position)
      }
    }
  }

  // MARK: - What stands before a declaration

  private mutating func prefix() -> Prefix {
    var result = Prefix()
    while position < source.count {
      if source.has("@", at: position), source.isWord(at: position + 1) {
        position += 1
        result.attributes.append(attribute())
        continue
      }
      guard source.isWord(at: position) else { break }
      let word = source.text(position)
      let isModifier =
        Self.modifiers.contains(word)
        || word == "class"
          && (Self.keywords.contains(source.text(position + 1)) || Self.modifiers.contains(source.text(position + 1)))
      guard isModifier,
        source.isWord(at: position + 1) || source.has("(", at: position + 1) || source.has("@", at: position + 1)
      else { break }
      result.modifiers.insert(word == "class" ? "static" : word)
      position += 1
      if source.has("(", at: position), !source.tokens[position].followsSpace { position = source.next(position) }
    }
    return result
  }

  private mutating func attribute() -> SwiftAttribute {
    let place = place
    var name = source.text(position)
    position += 1
    while source.has(".", at: position), source.isWord(at: position + 1) {
      name = source.text(position + 1)
      position += 2
    }
    var attribute = SwiftAttribute(name: name, place: place)
    if source.has("<", at: position) {
      var reader = SwiftTypeReader(source, at: position + 1)
      if let subject = reader.type(), source.has(">", at: reader.position) {
        attribute.subject = subject
        position = reader.position + 1
      }
    }
    if source.has("(", at: position) {
      attribute.arguments = source.inside(position)
      position = source.next(position)
    }
    return attribute
  }

  /// A condition or a freestanding macro.
  private mutating func readNumberSign(_ owner: inout SwiftDeclaration, conditions: inout Int) {
    position += 1
    switch source.isWord(at: position) ? source.text(position) : "" {
    case "if":
      conditions += 1
      skipLine()
    case "elseif", "else": skipLine()
    case "endif":
      conditions = max(conditions - 1, 0)
      skipLine()
    case "": break
    default:
      var macro = attribute()
      macro.isConditional = conditions > 0
      owner.macros.append(macro)
      if source.has("{", at: position) { position = source.next(position) }
    }
  }

  private func isCondition(_ index: Int) -> Bool {
    source.has("#", at: index) && ["if", "elseif", "else", "endif"].contains(source.text(index + 1))
  }

  // MARK: - Skipping

  private mutating func skipLine() {
    repeat { position += 1 } while position < source.count && !source.tokens[position].isFirstOnLine
  }

  private func beginsMember(_ index: Int) -> Bool {
    guard source.tokens[index].isFirstOnLine else { return false }
    if source.has("@", at: index) || source.has("#", at: index) { return true }
    guard source.isWord(at: index), !source.has(".", at: index - 1) else { return false }
    let word = source.text(index)
    return Self.keywords.contains(word) || Self.modifiers.contains(word)
  }

  private mutating func skipDeclaration(until end: Int) {
    while position < end {
      if source.has("{", at: position) {
        position = source.next(position)
        return
      }
      if source.has(";", at: position) || beginsMember(position) { return }
      position = source.next(position)
    }
  }

  private func noteFunction(_ owner: inout SwiftDeclaration) {
    var index = position + 1
    let isInitializer = source.has("init", at: position)
    if isInitializer, source.has("?", at: index) || source.has("!", at: index) {
      owner.functions.insert("init?")
      index += 1
    }
    guard isInitializer || source.has("encode", at: index) else { return }
    if !isInitializer { index += 1 }
    guard source.has("(", at: index) else { return }
    let parameters = source.inside(index)
    func takes(_ label: StaticString, _ type: StaticString) -> Bool {
      source.has(label, at: index + 1) && parameters.contains { source.has(type, at: $0) }
    }
    if isInitializer, takes("from", "Decoder") { owner.functions.insert("init(from:)") }
    if !isInitializer, takes("to", "Encoder") { owner.functions.insert("encode(to:)") }
  }

  // MARK: - Types

  private mutating func readType(
    _ word: String, _ prefix: Prefix, in owner: SwiftDeclaration, isConditional: Bool, depth: Int
  ) throws(SwiftSourceError) {
    let place = place
    position += 1
    var path = owner.path
    let kind = SwiftDeclaration.Kind(rawValue: word) ?? .extension
    var isGeneric = false
    if kind == .extension {
      var reader = SwiftTypeReader(source, at: position)
      let extended = reader.type()
      isGeneric = true
      if case .named(let names)? = extended {
        (path, isGeneric) = (names, false)
      } else {
        // Its members belong to no named type.
        path = [source.text(position..<max(reader.position, position + 1))]
      }
      position = max(reader.position, position + 1)
    } else {
      path.append(source.text(position))
      position += 1
    }
    var declaration = SwiftDeclaration(kind: kind, path: path, place: place, attributes: prefix.attributes)
    declaration.isConditional = isConditional
    declaration.isPrivate = prefix.isPrivate || owner.isPrivate
    declaration.head = owner.scope.head
    if source.has("<", at: position) {
      isGeneric = true
      skipParameters()
    }
    declaration.isGeneric = isGeneric
    if source.has(":", at: position) {
      repeat {
        position += 1
        var reader = SwiftTypeReader(source, at: position)
        if let type = reader.type() { declaration.inherited.append(type) }
        position = max(reader.position, position)
      } while source.has(",", at: position)
    }
    // The type doesn't inherit from the types in the requirements of generic parameters.
    while position < source.count, !source.has("{", at: position) { position = source.next(position) }
    guard position < source.count else {
      throw SwiftSourceError(line: place.line, reason: "this declaration has no body")
    }
    let end = source.partner(position)
    position += 1
    declaration.body = position..<end
    try readMembers(of: &declaration, until: end, depth: depth + 1)
    // The requirements of a protocol are members of the conforming types.
    if kind == .interface { (declaration.properties, declaration.macros, declaration.functions) = ([], [], []) }
    position = end + 1
    declarations.append(declaration)
  }

  private mutating func skipParameters() {
    var open = 0
    while position < source.count, !source.has("{", at: position) {
      if source.has("<", at: position) { open += 1 }
      if source.has(">", at: position) { open -= 1 }
      position = source.next(position)
      if open == 0 { return }
    }
  }

  private mutating func readAlias(_ owner: inout SwiftDeclaration, _ prefix: Prefix, isConditional: Bool) {
    let name = source.text(position + 1)
    position += 2
    var type: SwiftTypeName?
    if source.has("=", at: position) {
      var reader = SwiftTypeReader(source, at: position + 1)
      type = reader.type()
      position = max(reader.position, position + 1)
    }
    // A generic or unreadable alias also hides other types of its name.
    owner.aliases.append(
      SwiftAlias(
        name: name, type: type ?? .other(name), scope: owner.scope, isConditional: isConditional,
        isPrivate: prefix.isPrivate || owner.isPrivate))
  }

  private mutating func readCases(_ owner: inout SwiftDeclaration, isConditional: Bool, until end: Int) {
    repeat {
      position += 1
      guard position < end, source.isWord(at: position) else { return }
      var item = SwiftCase(
        name: source.text(position), place: place, isConditional: isConditional, isQuoted: source.isQuoted(position))
      position += 1
      if source.has("(", at: position) {
        item.values = source.inside(position)
        position = source.next(position)
      }
      if source.has("=", at: position) {
        let start = position + 1
        position = endOfValue(start, until: end)
        item.rawValue = start..<position
      }
      owner.cases.append(item)
    } while source.has(",", at: position)
  }

  // MARK: - Properties

  private mutating func readProperties(
    _ owner: inout SwiftDeclaration, _ prefix: Prefix, isConditional: Bool, until end: Int
  ) {
    let isConstant = source.has("let", at: position)
    repeat {
      position += 1
      guard position < end else { return }
      // A pattern of several names can't be stored in a model; its text serves as the name in
      // messages.
      let isPattern = source.has("(", at: position)
      let name = isPattern ? source.text(position..<source.next(position)) : source.text(position)
      var property = SwiftProperty(name: name, place: place, attributes: prefix.attributes)
      property.isStatic = prefix.modifiers.contains("static")
      property.isLazy = prefix.modifiers.contains("lazy") || isPattern
      property.isConstant = isConstant
      property.isQuoted = source.isQuoted(position)
      property.isConditional = isConditional
      position = source.next(position)
      if source.has(":", at: position) {
        var reader = SwiftTypeReader(source, at: position + 1)
        let start = position + 1
        property.type = reader.type() ?? .other(source.text(start..<min(start + 1, end)))
        position = max(reader.position, start)
      }
      if source.has("=", at: position) {
        let start = position + 1
        position = endOfValue(start, until: end)
        property.initialValue = start..<position
      }
      if position < end, source.has("{", at: position) {
        let body = source.inside(position)
        if property.initialValue == nil, !observes(body) { property.body = body }
        position = source.next(position)
      }
      owner.properties.append(property)
    } while position < end && source.has(",", at: position)
  }

  /// True for the body of a stored property, which contains only observers.
  private func observes(_ body: Range<Int>) -> Bool {
    var index = body.lowerBound
    while source.has("@", at: index) { index += 2 }
    return source.has("didSet", at: index) || source.has("willSet", at: index)
  }

  /// After a type with generic arguments, as in `Pair<Int, String>()`; `nil` where there is none.
  private func endOfType(_ index: Int) -> Int? {
    guard source.isWord(at: index), source.has("<", at: index + 1), !source.tokens[index + 1].followsSpace else {
      return nil
    }
    var reader = SwiftTypeReader(source, at: index)
    guard reader.type() != nil, source.has("(", at: reader.position) || source.has(".", at: reader.position) else {
      return nil
    }
    return reader.position
  }

  /// Keywords that continue the preceding expression.
  private static let infix: Set<String> = ["as", "is", "else"]
  /// Keywords that can't end an expression.
  private static let unfinished: Set<String> = [
    "any", "as", "await", "consume", "copy", "each", "else", "if", "is", "some", "switch", "throw", "try", "unsafe",
  ]

  /// True for a word that begins a statement on a new line, as in a script.
  private func beginsStatement(_ index: Int) -> Bool {
    guard source.tokens[index].isFirstOnLine, source.isWord(at: index), !Self.infix.contains(source.text(index)) else {
      return false
    }
    switch source.tokens[index - 1].kind {
    case .closing, .number, .string: return true
    case .word: return !Self.unfinished.contains(source.text(index - 1))
    default: return false
    }
  }

  private func endOfValue(_ start: Int, until end: Int) -> Int {
    var index = start
    while index < end {
      if index > start {
        if source.has(",", at: index) || source.has(";", at: index) || beginsMember(index) || beginsStatement(index) {
          return index
        }
        if source.has("{", at: index), observes(source.inside(index)) { return index }
      }
      index = endOfType(index) ?? source.next(index)
    }
    return end
  }
}
