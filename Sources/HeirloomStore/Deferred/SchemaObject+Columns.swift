extension SchemaObject {
  /// A trigger may name other tables' columns: its own follow `NEW`, `OLD` or `UPDATE OF`, or stand
  /// in a statement about its table.
  package func speaks(ofColumn column: String) -> Bool {
    let (column, table) = (column.lowercased(), table.lowercased())
    var words = SQLWords(sql ?? "")
    var previous = ""
    var (isInList, isInBody, namesTable, namesColumn) = (false, false, false, false)
    while let found = words.next() {
      let word = found.lowercased()
      let isOfName = words.mark == UInt8(ascii: ".")
      let isColumn = word == column && (!words.isText || isOfName)
      switch kind {
      case .index:
        // The names of the index and its table come before.
        if words.hasOpenedParenthesis, isColumn { return true }
      case .trigger:
        if isColumn, isOfName ? ["new", "old"].contains(previous) : isInList { return true }
        // `UPDATE OF` a list of columns `ON` the table.
        if previous == "update", word == "of" { isInList = true }
        if word == "on" { isInList = false }
        if isInBody, !isOfName {
          namesTable = namesTable || word == table
          namesColumn = namesColumn || isColumn
        }
        isInBody = isInBody || word == "begin" && !words.isText
      case .table, .view: return false
      }
      previous = word
    }
    return namesTable && namesColumn
  }
}
