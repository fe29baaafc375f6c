extension SchemaObject {
  /// A trigger may name other tables' columns; its own follow `NEW`, `OLD` or `UPDATE OF`.
  package func speaks(ofColumn column: String) -> Bool {
    let words = Self.words(of: sql ?? "")
    let column = column.lowercased()
    switch kind {
    case .index:
      // The names of the index and its table come before.
      return words.drop { $0 != "(" }.contains(column)
    case .trigger:
      let isNamed = words.indices.contains { place in
        words[place] == column && place >= 2 && words[place - 1] == "." && ["new", "old"].contains(words[place - 2])
      }
      guard !isNamed, let start = words.firstIndex(of: "of"), let end = words.firstIndex(of: "on"), start < end else {
        return isNamed
      }
      return words[start..<end].contains(column)
    case .table, .view: return false
    }
  }

  private static func words(of sql: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isLiteral = false
    for character in sql.lowercased() {
      if character == "'" {
        isLiteral.toggle()
        continue
      }
      if isLiteral { continue }
      if character.isLetter || character.isNumber || character == "_" || character == "$" {
        word.append(character)
        continue
      }
      if !word.isEmpty { words.append(word) }
      word = ""
      if character == "." || character == "(" { words.append(String(character)) }
    }
    return word.isEmpty ? words : words + [word]
  }
}
