extension SchemaObject {
  /// A trigger may name other tables' columns; its own follow `NEW`, `OLD` or `UPDATE OF`.
  package func speaks(ofColumn column: String) -> Bool {
    let column = column.lowercased()
    var words = SQLWords(sql ?? "")
    // The names of an index and its table come before the parenthesis.
    var (isWithin, previous) = (false, "")
    while let found = words.next() {
      let word = found.lowercased()
      let isColumn = word == column && !words.isText
      switch kind {
      case .index:
        isWithin = isWithin || words.mark == UInt8(ascii: "(")
        if isWithin, isColumn { return true }
      case .trigger:
        if isColumn, words.mark == UInt8(ascii: "."), ["new", "old"].contains(previous) { return true }
        // `UPDATE OF` a list of columns `ON` the table.
        if isWithin, isColumn { return true }
        if previous == "update", word == "of" { isWithin = true }
        if word == "on" { isWithin = false }
      case .table, .view: return false
      }
      previous = word
    }
    return false
  }
}
