import HeirloomModel
import HeirloomStore

extension SourceTable {
  /// Matches the model's columns with damaged names; returns a phrase for each difference.
  ///
  /// `known` has columns that the model may lack; `isOwn` is true if the model made the store.
  mutating func findColumns(of table: PhysicalTable, besides known: Set<String>, isOwn: Bool) -> [String] {
    let wanted = table.columns.map(\.name)
    var missing = wanted.filter { !columns.contains($0) }
    var unknown = columns.filter { !wanted.contains($0) && !known.contains($0) }
    var told: [String] = []
    func take(_ pairs: [(String, String)]) {
      for (column, found) in pairs {
        columnNames[column] = found
        missing.removeAll { $0 == column }
        unknown.removeAll { $0 == found }
        told.append("the name of the column \(fileName).\(found), whose values were assigned to \(column)")
      }
    }
    take(Self.nearPairs(missing, unknown))
    // A table that differs only in some names has its columns in the model's order.
    if isOwn, missing.count == unknown.count, wanted.count == columns.count {
      let pairs = zip(wanted, columns).filter { (columnNames[$0] ?? $0) != $1 }
      if pairs.count == missing.count, pairs.allSatisfy({ missing.contains($0) && unknown.contains($1) }) {
        take(pairs)
      }
    }
    // A model of another version may have columns that the store doesn't.
    if isOwn { told += missing.map { "the column \(fileName).\($0), which the damaged store doesn't name" } }
    leftOutColumns = unknown
    return told + unknown.map { "the column \(fileName).\($0), which the model doesn't have" }
  }

  /// Pairs the model's tables with the file's that have a similar name or the same columns.
  static func renamed(_ lost: [PhysicalTable], _ others: [SourceTable]) -> [(String, String)] {
    let near = nearPairs(lost.map(\.name), others.map(\.name))
    let (lost, others) = (
      lost.filter { table in !near.contains { $0.0 == table.name } },
      others.filter { table in !near.contains { $0.1 == table.name } }
    )
    // Renaming a table keeps its columns; an app may have added some.
    func fits(_ table: PhysicalTable, _ other: SourceTable) -> Bool {
      Set(table.columns.map(\.name)).isSubset(of: other.columns)
    }
    return near
      + lost.compactMap { table in
        let all = others.filter { fits(table, $0) }
        let same = all.filter { $0.columns.count == table.columns.count }
        guard let found = same.isEmpty ? all.first : same.first, (same.isEmpty ? all : same).count == 1,
          lost.count(where: { fits($0, found) }) == 1
        else { return nil }
        return (table.name, found.name)
      }
  }

  /// Pairs names that differ in at most two characters, if each has only one such counterpart.
  static func nearPairs(_ names: [String], _ others: [String]) -> [(String, String)] {
    names.compactMap { name in
      let near = others.filter { isNear(name, $0) }
      guard near.count == 1, names.count(where: { isNear($0, near[0]) }) == 1 else { return nil }
      return (name, near[0])
    }
  }

  /// A few changed bits may have turned one name into the other.
  private static func isNear(_ name: String, _ other: String) -> Bool {
    // An invalid byte was read as one character.
    guard name.unicodeScalars.count == other.unicodeScalars.count else { return false }
    return zip(name.unicodeScalars, other.unicodeScalars).count { $0 != $1 } <= 2
  }
}
