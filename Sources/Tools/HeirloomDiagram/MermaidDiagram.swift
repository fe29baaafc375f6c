import HeirloomOutput

/// A diagram as a Mermaid `erDiagram`, which GitHub and many wikis render.
///
/// Grammar: https://mermaid.js.org/syntax/entityRelationshipDiagram.html. Characters that it
/// doesn't allow in names are replaced; entity names stay unique.
struct MermaidDiagram {
  let diagram: ModelDiagram

  /// Marks a file made by this command.
  static let mark = "heirloom diagram"

  var file: String {
    let names = Self.uniqueNames(diagram.boxes.map(\.name))
    var lines = ["%% \(Self.mark)", "erDiagram", "  accTitle: \(Self.plain(diagram.title))"]
    if diagram.isDifference {
      lines += [
        "  classDef added fill:#d5f2dd,stroke:#16692e,color:#16692e",
        "  classDef removed fill:#fbdcd9,stroke:#b3261e,color:#b3261e",
        "  classDef changed fill:#fbeec2,stroke:#825500,color:#825500",
        "  classDef renamed fill:#d6e7fc,stroke:#0a4f9e,color:#0a4f9e",
      ]
    }
    for (box, name) in zip(diagram.boxes, names) { lines += Self.lines(of: box, name: name) }
    for edge in diagram.edges { lines.append("  " + line(of: edge, names: names)) }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(of box: ModelDiagram.Box, name: String) -> [String] {
    var head = "  \"\(name)\""
    if box.mark != .unchanged {
      let former = box.formerName.map { " (was \(plain($0)))" } ?? ""
      head += "[\"\(box.mark.asciiSign) \(name)\(former)\"]:::\(box.mark.rawValue)"
    }
    // A relationship is drawn as a line; it is also a row if it has a mark.
    let rows = box.rows.filter { $0.kind != .relationship || $0.mark != .unchanged }
    guard !rows.isEmpty else { return [head] }
    return ["\(head) {"] + rows.map { "    \(text(of: $0))" } + ["  }"]
  }

  private static func text(of row: ModelDiagram.Row) -> String {
    let isOptional = row.type.hasSuffix("?")
    let type = word(isOptional ? String(row.type.dropLast()) : row.type)
    var words = [type, word(row.path.joined(separator: "."))]
    if row.features.contains("unique") { words.append("UK") }
    var remarks = row.features.filter { $0 != "unique" }
    if isOptional { remarks.insert("optional", at: 0) }
    if row.mark != .unchanged { remarks.insert("\(row.mark.asciiSign) \(row.mark.rawValue)", at: 0) }
    if let formerName = row.formerName { remarks.append("was \(formerName)") }
    if !remarks.isEmpty { words.append("\"\(plain(remarks.joined(separator: ", ")))\"") }
    return words.joined(separator: " ")
  }

  private func line(of edge: ModelDiagram.Edge, names: [String]) -> String {
    let (start, end) = ("\"\(names[edge.start.box])\"", "\"\(names[edge.end.box])\"")
    if edge.kind == .inheritance { return "\(start) ||..o| \(end) : \"\(Self.signed("is the parent of", edge.mark))\"" }
    func label(_ end: ModelDiagram.End) -> String? { end.row.map { diagram.boxes[end.box].rows[$0].name } }
    let left = edge.start.cardinality.map(Self.left) ?? "}o"
    let right = Self.right(edge.end.cardinality ?? .zeroOrMore)
    let kind = edge.start.cardinality == nil ? ".." : "--"
    let words = [label(edge.start), label(edge.end)].compactMap(\.self).joined(separator: " / ")
    return "\(start) \(left)\(kind)\(right) \(end) : \"\(Self.signed(Self.plain(words), edge.mark))\""
  }

  private static func signed(_ words: String, _ mark: ModelDiagram.Mark) -> String {
    mark == .unchanged ? words : "\(mark.asciiSign) \(words)"
  }

  private static func left(_ cardinality: ModelDiagram.Cardinality) -> String {
    switch cardinality {
    case .zeroOrOne: "|o"
    case .exactlyOne: "||"
    case .zeroOrMore: "}o"
    case .oneOrMore: "}|"
    }
  }

  private static func right(_ cardinality: ModelDiagram.Cardinality) -> String {
    switch cardinality {
    case .zeroOrOne: "o|"
    case .exactlyOne: "||"
    case .zeroOrMore: "o{"
    case .oneOrMore: "|{"
    }
  }

  // MARK: Names

  private static func uniqueNames(_ names: [String]) -> [String] {
    var known: Set<String> = []
    return names.map { name in
      let plain = plain(name)
      var result = plain
      var number = 2
      while !known.insert(result).inserted {
        result = "\(plain)_\(number)"
        number += 1
      }
      return result
    }
  }

  /// Makes text valid in quotes: characters that Mermaid or HTML would interpret are replaced.
  static func plain(_ text: String) -> String {
    var result = ""
    for scalar in TerminalText.harmless(text).unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", " ", "_", "-", ".", ",", "(", ")", "+", "=":
        result.unicodeScalars.append(scalar)
      case "/" where result.hasSuffix(" "): result.unicodeScalars.append(scalar)
      case "→": result += "to"
      case "\u{C0}"...: result.unicodeScalars.append(scalar)
      default: result += "_"
      }
    }
    // The grammar recognizes a direction anywhere in a line, even in quotes.
    let trimmed = result.isEmpty || result.allSatisfy { $0 == " " } ? "_" : result
    return trimmed.lowercased().contains("direction")
      ? String(trimmed.map { $0 == " " ? "_" : $0 }) : trimmed
  }

  /// Makes a type or name valid in the body of an entity.
  static func word(_ text: String) -> String {
    var result = ""
    for scalar in TerminalText.harmless(text.replacing(" → ", with: "_to_")).unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z", "_", "\u{C0}"...: result.unicodeScalars.append(scalar)
      case "0"..."9", "-", "[", "]", "(", ")":
        // The first character must be a letter or an underscore.
        if result.isEmpty { result = "_" }
        result.unicodeScalars.append(scalar)
      default: result += "_"
      }
    }
    // The grammar parses such words as keys, in upper and lower case.
    let start = result.prefix(2).uppercased()
    let isKey =
      ["PK", "FK", "UK"].contains(start)
      && !(result.dropFirst(2).first.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false)
    return result.isEmpty || isKey ? "_" + result : result
  }
}

extension ModelDiagram.Mark {
  /// Every version of the grammar accepts ASCII.
  fileprivate var asciiSign: String {
    switch self {
    case .unchanged: ""
    case .added: "+"
    case .removed: "-"
    case .changed: "="
    case .renamed: "to"
    }
  }
}
