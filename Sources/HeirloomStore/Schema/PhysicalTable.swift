package struct PhysicalTable: Hashable, Sendable {
  package let name: String
  package let kind: Kind
  /// In the order of a fresh store.
  package let columns: [PhysicalColumn]

  package enum Kind: Hashable, Sendable {
    /// Of a root entity and all its descendants.
    case objects(rootEntity: String)
    /// By the side that names the table.
    case links(entity: String, relationship: String)
  }

  package init(name: String, kind: Kind, columns: [PhysicalColumn]) {
    self.name = name
    self.kind = kind
    self.columns = columns
  }

  package var isJoin: Bool {
    if case .links = kind { true } else { false }
  }

  package var sql: String {
    var parts = columns.map { column in
      let isKey = column.role == .primaryKey
      return "\(bareIdentifier(column.name)) \(column.type.rawValue)\(isKey ? " PRIMARY KEY" : "")"
    }
    if isJoin {
      let keys = columns.prefix(2).map { bareIdentifier($0.name) }.joined(separator: ", ")
      parts.append("PRIMARY KEY (\(keys))")
    }
    return "CREATE TABLE \(bareIdentifier(name)) ( \(parts.joined(separator: ", ")) )"
  }

  package func column(named name: String) -> PhysicalColumn? {
    columns.first { $0.name == name }
  }

  /// `nil` if a name is not that of a column.
  package func withColumns(_ names: [String]) -> PhysicalTable? {
    let ordered = names.compactMap { column(named: $0) }
    return ordered.count == names.count ? PhysicalTable(name: name, kind: kind, columns: ordered) : nil
  }

  package func isMade(by statement: String?) -> Bool {
    func characters(_ sql: String) -> String { sql.filter { !$0.isWhitespace && $0 != "\"" } }
    return statement.map(characters) == characters(sql)
  }
}

package struct PhysicalIndex: Hashable, Sendable {
  package let name: String
  package let table: String
  package let columns: [String]
  package let kind: Kind
  package let sql: String

  /// Two indexes with equal order on the same columns have the same entries, whatever their names.
  ///
  /// `nil` for an R-tree, which is not an SQLite index.
  package var ordering: [Substring]? {
    if case .rTree = kind { return nil }
    guard let list = sql.split(separator: "(", maxSplits: 1).last else { return nil }
    let terms = list.split(separator: ", ")
    guard terms.count == columns.count else { return nil }
    let orders = terms.map { $0.split(separator: " ", maxSplits: 1).dropFirst().first ?? ")" }
    return [sql.hasPrefix("CREATE UNIQUE INDEX") ? "UNIQUE" : ""] + orders
  }

  package enum Kind: Hashable, Sendable {
    /// Every store has it, on keys or entity numbers.
    case standard
    case fetchIndex(entity: String, name: String)
    case constraint(entity: String, properties: [String])
    case rTree(entity: String, name: String)
  }
}

package struct PhysicalTrigger: Hashable, Sendable {
  package let name: String
  /// The table whose changes fire the trigger.
  package let table: String
  package let entity: String
  package let property: String
  package let sql: String
}

package final class PhysicalEntity: Sendable {
  package let name: String
  /// Counted from 1.
  package let number: Int
  /// 0 for a root.
  package let superentityNumber: Int
  package let rootName: String
  package let table: String
  /// The entity's own number and those of all its descendants, which are consecutive.
  package let treeNumbers: ClosedRange<Int>
  package let isAbstract: Bool

  init(
    name: String, number: Int, superentityNumber: Int, rootName: String, table: String, treeNumbers: ClosedRange<Int>,
    isAbstract: Bool
  ) {
    (self.name, self.number, self.superentityNumber) = (name, number, superentityNumber)
    (self.rootName, self.table, self.treeNumbers, self.isAbstract) = (rootName, table, treeNumbers, isAbstract)
  }
}

/// Quoted only where Core Data does; names start with Z, unlike any keyword of SQL.
func bareIdentifier(_ name: String) -> String {
  let isPlain = name.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
  return isPlain && name.utf8.first == UInt8(ascii: "Z") || name == PhysicalName.reflexiveColumn ? name : quote(name)
}
