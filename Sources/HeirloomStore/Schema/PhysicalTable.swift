/// A table as a model requires it.
package struct PhysicalTable: Hashable, Sendable {
  /// The table's name.
  package let name: String
  /// The kind of its rows.
  package let kind: Kind
  /// The columns in the order of a fresh store.
  package let columns: [PhysicalColumn]

  /// The kind of a table's rows.
  package enum Kind: Hashable, Sendable {
    /// Objects of a root entity and all its descendants.
    case objects(rootEntity: String)
    /// Links of a many-to-many relationship, by the side that names the table.
    case links(entity: String, relationship: String)
  }

  /// Creates a table.
  package init(name: String, kind: Kind, columns: [PhysicalColumn]) {
    self.name = name
    self.kind = kind
    self.columns = columns
  }

  /// True if the rows are links.
  package var isJoin: Bool {
    if case .links = kind { true } else { false }
  }

  /// The statement that creates the table, spelled as Core Data does.
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

  /// Returns the column of the given name, or `nil`.
  package func column(named name: String) -> PhysicalColumn? {
    columns.first { $0.name == name }
  }

  /// Returns the table with its columns in another order, as after a migration that only added columns.
  ///
  /// Returns `nil` if a name is not that of a column.
  package func withColumns(_ names: [String]) -> PhysicalTable? {
    let ordered = names.compactMap { column(named: $0) }
    return ordered.count == names.count ? PhysicalTable(name: name, kind: kind, columns: ordered) : nil
  }

  /// Returns true if a file's table was created by this table's statement, ignoring whitespace and quotes.
  package func isMade(by statement: String?) -> Bool {
    func characters(_ sql: String) -> String { sql.filter { !$0.isWhitespace && $0 != "\"" } }
    return statement.map(characters) == characters(sql)
  }
}

/// An index as a model requires it.
package struct PhysicalIndex: Hashable, Sendable {
  /// The index's name.
  package let name: String
  /// The indexed table.
  package let table: String
  /// The names of the indexed columns.
  package let columns: [String]
  /// The reason why it exists.
  package let kind: Kind
  /// The statement that creates it, spelled as Core Data does.
  package let sql: String

  /// The uniqueness of the values, then the order of each column without the column's name.
  ///
  /// Two indexes with equal order on the same columns have the same entries, whatever the columns' names. It is `nil`
  /// for an R-tree, which is not an SQLite index.
  package var ordering: [Substring]? {
    if case .rTree = kind { return nil }
    guard let list = sql.split(separator: "(", maxSplits: 1).last else { return nil }
    let terms = list.split(separator: ", ")
    guard terms.count == columns.count else { return nil }
    let orders = terms.map { $0.split(separator: " ", maxSplits: 1).dropFirst().first ?? ")" }
    return [sql.hasPrefix("CREATE UNIQUE INDEX") ? "UNIQUE" : ""] + orders
  }

  /// The reason why an index exists.
  package enum Kind: Hashable, Sendable {
    /// An index that every store has, on keys or entity numbers.
    case standard
    /// A fetch index of the model.
    case fetchIndex(entity: String, name: String)
    /// An index that enforces a uniqueness constraint.
    case constraint(entity: String, properties: [String])
    /// An R-tree of the model, which is a virtual table.
    case rTree(entity: String, name: String)
  }
}

/// A trigger as a model requires it.
package struct PhysicalTrigger: Hashable, Sendable {
  /// The trigger's name.
  package let name: String
  /// The table whose changes fire it.
  package let table: String
  /// The entity with the derived attribute or the R-tree.
  package let entity: String
  /// The derived attribute, or the R-tree's index.
  package let property: String
  /// The statement that creates it.
  package let sql: String
}

/// An entity of a store.
package final class PhysicalEntity: Sendable {
  /// The entity's name.
  package let name: String
  /// Its number, counted from 1.
  package let number: Int
  /// The number of its parent; 0 for a root.
  package let superentityNumber: Int
  /// The root of its tree.
  package let rootName: String
  /// The table of the tree's objects.
  package let table: String
  /// Its number and those of all its descendants, which are consecutive.
  package let treeNumbers: ClosedRange<Int>
  /// True if only objects of subentities exist.
  package let isAbstract: Bool

  init(
    name: String, number: Int, superentityNumber: Int, rootName: String, table: String, treeNumbers: ClosedRange<Int>,
    isAbstract: Bool
  ) {
    (self.name, self.number, self.superentityNumber) = (name, number, superentityNumber)
    (self.rootName, self.table, self.treeNumbers, self.isAbstract) = (rootName, table, treeNumbers, isAbstract)
  }
}

/// Returns a name as Core Data writes it in SQL, quoted only if SQL wouldn't accept it otherwise.
///
/// Names of the format start with Z, unlike any keyword of SQL.
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
