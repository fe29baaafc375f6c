import HeirloomModel
import HeirloomStore

/// Objects of a candidate that are equal where a uniqueness constraint requires them to differ.
///
/// Duplicates among copied values are counted before the run and can be decided on. Those that an expression or a
/// policy makes are found only afterwards.
public struct DuplicateObjects: Hashable, Sendable {
  /// The entity of the destination that has the constraint.
  public let entity: String
  /// The properties of the constraint.
  public let properties: [String]
  /// The number of objects that are equal to an earlier one; never 0.
  public let rows: Int64
  /// Up to three groups of equal objects.
  public let examples: [Example]

  /// A group of equal objects.
  public struct Example: Hashable, Sendable {
    /// Their values in the properties of the constraint, as text.
    public let values: [String]
    /// The primary keys of the first two of them in the candidate, ascending.
    public let primaryKeys: [Int64]

    package init(values: [String], primaryKeys: [Int64]) {
      self.values = values
      self.primaryKeys = primaryKeys
    }
  }

  package init(entity: String, properties: [String], rows: Int64, examples: [Example]) {
    self.entity = entity
    self.properties = properties
    self.rows = rows
    self.examples = examples
  }

  /// `nil` if the index enforces no constraint, or its columns have no duplicates.
  init?(violating index: PhysicalIndex, connection: Connection) throws(SQLiteError) {
    guard case .constraint(let entity, let properties) = index.kind else { return nil }
    let columns = index.columns.map(quote)
    let key = quote(PhysicalName.primaryKey)
    // A unique index treats NULLs as distinct.
    let groups =
      "SELECT \(columns.joined(separator: ", ")), COUNT(*) AS n, MIN(\(key)) AS first"
      + " FROM \(quote(SchemaName.candidate)).\(quote(index.table))"
      + " WHERE \(columns.map { "\($0) IS NOT NULL" }.chained(by: "AND"))"
      + " GROUP BY \(columns.joined(separator: ", ")) HAVING COUNT(*) > 1"
    let rows = try connection.firstInteger("SELECT SUM(n - 1) FROM (\(groups))") ?? 0
    guard rows > 0 else { return nil }
    self.entity = entity
    self.properties = properties
    self.rows = rows
    let same = columns.map { "o.\($0) = g.\($0)" }.chained(by: "AND")
    // Ordered by key, so the examples are the same each time.
    let found = try connection.rows(
      "SELECT g.first, (SELECT MIN(o.\(key)) FROM \(quote(SchemaName.candidate)).\(quote(index.table)) AS o"
        + " WHERE \(same) AND o.\(key) > g.first), \(columns.map { "g.\($0)" }.joined(separator: ", "))"
        + " FROM (\(groups) ORDER BY first LIMIT 3) AS g")
    examples = found.map { row in
      Example(values: row.dropFirst(2).map(Self.text), primaryKeys: row.prefix(2).compactMap(\.integer))
    }
  }

  private static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .null: ""
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text.count > 80 ? text.prefix(80) + "…" : text
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}

extension DuplicateObjects: CustomStringConvertible {
  /// One sentence about what was found and expected, without the values, which are users' data.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let names = properties.map { "\"\($0)\"" }.joined(separator: ", ")
    let keys = examples.first.map { $0.primaryKeys.map(String.init).joined(separator: " and ") } ?? ""
    return "The mapping makes \(CountText.counted(rows, "object")) of \"\(entity)\" that"
      + " \(rows == 1 ? "is" : "are") equal to another in \(names), such as \(keys); the model requires unique values."
  }
}
