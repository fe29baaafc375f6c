/// The facts that the reader of Swift source finds.
struct ReaderFacts {
  private(set) var facts = Facts()
  private let tokens: SwiftTokens

  init(_ bytes: [UInt8]) throws(SwiftSourceError) {
    tokens = try SwiftTokens(bytes)
    for name in tokens.imports { facts.add("imports", line: 0, [name]) }
    for declaration in try SwiftDeclarationReader(tokens, file: 0).declarations { add(declaration) }
  }

  private mutating func add(_ declaration: SwiftDeclaration) {
    // What stands in no type has no name.
    if !declaration.path.isEmpty {
      facts.add(
        "types", line: declaration.place.line, declaration.path.map(Facts.bare),
        [
          "kind": declaration.kind.rawValue, "attributes": names(declaration.attributes),
          "inherits": declaration.inherited.map { Facts.bare("\($0)") }.joined(separator: ","),
          "generic": Facts.mark(declaration.isGeneric), "conditional": Facts.mark(declaration.isConditional),
          "private": Facts.mark(declaration.isPrivate),
          "functions": declaration.functions.sorted().joined(separator: ","),
          "macros": names(declaration.macros),
        ])
    }
    for property in declaration.properties {
      facts.add(
        "properties", line: property.place.line, declaration.path.map(Facts.bare) + [Facts.bare(property.name)],
        [
          "type": property.type.map { Facts.bare("\($0)") } ?? "", "attributes": names(property.attributes),
          "value": property.initialValue.map { text($0) } ?? "", "computed": Facts.mark(property.body != nil),
          "static": Facts.mark(property.isStatic), "lazy": Facts.mark(property.isLazy),
          "constant": Facts.mark(property.isConstant), "quoted": Facts.mark(property.isQuoted),
          "conditional": Facts.mark(property.isConditional),
        ])
    }
    for item in declaration.cases {
      facts.add(
        "cases", line: item.place.line, declaration.path.map(Facts.bare) + [item.name],
        [
          "values": item.values.map { "(\(text($0)))" } ?? "", "raw": item.rawValue.map { text($0) } ?? "",
          "quoted": Facts.mark(item.isQuoted), "conditional": Facts.mark(item.isConditional),
        ])
    }
    for alias in declaration.aliases {
      facts.add(
        "aliases", line: 0, declaration.path.map(Facts.bare) + [alias.name],
        [
          "type": Facts.bare("\(alias.type)"), "conditional": Facts.mark(alias.isConditional),
          "private": Facts.mark(alias.isPrivate),
        ])
    }
  }

  private func names(_ attributes: [SwiftAttribute]) -> String {
    attributes.map { "\($0.name)(\(text($0.arguments)))" }.joined(separator: ",")
  }

  /// The tokens of a range, with nothing between them.
  private func text(_ range: Range<Int>) -> String {
    range.map { index in
      if tokens.isQuoted(index) { return "`\(tokens.text(index))`" }
      // The end of a line within a string that has no end there is no part of it.
      return Facts.bare(tokens.text(index).split(separator: "\\\n", omittingEmptySubsequences: false).joined())
    }.joined()
  }
}
