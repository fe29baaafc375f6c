import HeirloomModel
package import HeirloomStore

/// One action of building the candidate.
///
/// Steps are values, so a plan can be shown, as text or as SQL, before anything is changed.
public struct MigrationStep: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case createTable
    case copyRows
    /// Of a relationship whose storage changes.
    case gatherLinks
    /// Of a many-to-many relationship.
    case copyLinks
    /// Of a relationship that becomes ordered.
    case orderMembers
    /// Runs entity mappings object by object, with their policies.
    case runMappings
    /// Keeps rows unchanged in a copy of the store.
    case keepRows
    /// Changes rows in place in a copy of the store.
    case changeRows
    /// Changes names and definitions, but no rows.
    case alterSchema
    /// Drops an object that the destination doesn't use, or that is created again.
    case dropObject
    /// Collects the rows that decisions are about in temporary tables.
    case findRows
    /// Removes or merges rows by decision, and redirects their links.
    case decideRows = "settleRows"
    case computeDerived
    case createIndex
    case createTrigger
    /// Copies an object outside the model: of the app, of history or of CloudKit.
    case copyObject
    /// Writes the entity numbers, the metadata or the model cache.
    case writeMetadata
    /// Does nothing: a deferred migration leaves this work until after the launch.
    case leaveForLater
  }

  package let kind: Kind
  /// The table, index or object that the step creates or fills.
  public let subject: String
  /// A line that describes the step to a person.
  public let summary: String
  /// The number of rows that the step writes, counted in the store; `nil` if it writes none or the number is unknown.
  public let rows: Int64?
  /// The table whose rows the step adds to an index.
  let indexedTable: String?
  package let statements: [PlannedStatement]

  package init(
    kind: Kind, subject: String, summary: String, rows: Int64? = nil, indexedTable: String? = nil,
    statements: [PlannedStatement]
  ) {
    self.kind = kind
    self.subject = subject
    self.summary = PlainText.line(summary)
    self.rows = rows
    self.indexedTable = indexedTable
    self.statements = statements
  }

  /// The statements as SQL, each ended by a semicolon, with comments for parts that can't be shown as SQL.
  ///
  /// It is safe to feed to a shell: no name from the store can end a statement or a comment, or start a shell command.
  public var sql: String {
    if kind == .runMappings { return "-- run by code, object by object" }
    return statements.isEmpty ? "-- nothing to run" : statements.map(\.text).joined(separator: "\n")
  }
}

package struct PlannedStatement: Hashable, Sendable {
  package let sql: String
  package let values: [SQLiteValue]
  /// The number of rows that the statement must write, or else the run stops; `nil` for any number.
  package let expectedRows: Int64?

  package init(_ sql: String, values: [SQLiteValue] = [], expectedRows: Int64? = nil) {
    self.sql = sql
    self.values = values
    self.expectedRows = expectedRows
  }

  var text: String {
    SQLListing.text(of: sql) + (values.isEmpty ? "" : "  -- \(values.count) bound values")
  }
}
