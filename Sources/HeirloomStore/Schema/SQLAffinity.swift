/// By SQLite's rules (https://www.sqlite.org/datatype3.html#determination_of_column_affinity).
package enum SQLAffinity: Hashable {
  case integer, text, blob, real, numeric

  package init(declaredType: String) {
    let type = declaredType.uppercased()
    if type.contains("INT") {
      self = .integer
    } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
      self = .text
    } else if type.isEmpty || type.contains("BLOB") {
      self = .blob
    } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
      self = .real
    } else {
      self = .numeric
    }
  }
}
