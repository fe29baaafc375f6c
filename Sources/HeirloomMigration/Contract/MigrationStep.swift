import HeirloomModel
package import HeirloomStore

/// One action of building the candidate.
///
/// Steps are values, so a plan can be shown, as text or as SQL, before anything is changed.
public struct MigrationStep: Hashable, Sendable {
  /// A kind of step.
  package enum Kind: String, Hashable, Sendable {
    /// A step that creates an empty table.
    case createTable
    /// A step that copies the rows of an entity tree.
    case copyRows
    /// A step that collects the links of a relationship whose storage changes.
    case gatherLinks
    /// A step that copies the links of a many-to-many relationship.
    case copyLinks
    /// A step that numbers the members of a relationship that becomes ordered.
    case orderMembers
    /// A step that runs entity mappings object by object, with their policies.
    case runMappings
    /// A step that keeps the rows of a table unchanged in a copy of the store.
    case keepRows
    /// A step that changes rows of a table in place in a copy of the store.
    case changeRows
    /// A step that changes names and definitions, but no rows.
    case alterSchema
    /// A step that drops an object that the destination doesn't use, or that is created again.
    case dropObject
    /// A step that collects the rows that decisions are about in temporary tables.
    case findRows
    /// A step that removes or merges rows by decision, and redirects their links.
    case decideRows = "settleRows"
    /// A step that computes a derived attribute.
    case computeDerived
    /// A step that creates an index.
    case createIndex
    /// A step that creates a trigger.
    case createTrigger
    /// A step that copies an object outside the model: a table of the app, of history or of CloudKit, a view, a
    /// trigger.
    case copyObject
    /// A step that writes the entity numbers, the metadata or the model cache.
    case writeMetadata
    /// A step that does nothing, because a deferred migration leaves this work until after the launch.
    case leaveForLater
  }

  /// The kind of step.
  package let kind: Kind
  /// The table, index or object that the step creates or fills.
  public let subject: String
  /// A line that describes the step to a person.
  public let summary: String
  /// The number of rows that the step writes, counted in the store; `nil` if it writes none or the number is unknown.
  public let rows: Int64?
  /// The table whose rows the step adds to an index; `nil` for any other step.
  let indexedTable: String?
  /// The statements, in order.
  package let statements: [PlannedStatement]

  /// Creates a step.
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

/// A statement of a step with the values that are bound to it.
package struct PlannedStatement: Hashable, Sendable {
  /// SQL with `?` for each value.
  package let sql: String
  /// The values, in the order of their places.
  package let values: [SQLiteValue]
  /// The number of rows that the statement must write, or else the run stops; `nil` for any number.
  package let expectedRows: Int64?

  /// Creates a statement.
  package init(_ sql: String, values: [SQLiteValue] = [], expectedRows: Int64? = nil) {
    self.sql = sql
    self.values = values
    self.expectedRows = expectedRows
  }

  /// The SQL as it is shown to a person.
  var text: String {
    SQLListing.text(of: sql) + (values.isEmpty ? "" : "  -- \(values.count) bound values")
  }
}
