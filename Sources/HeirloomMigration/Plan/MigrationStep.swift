import HeirloomModel
package import HeirloomStore

/// One thing that a builder does to make the candidate store.
///
/// Steps are values: a plan can be shown to a person, as text or as SQL, before anything is touched.
public struct MigrationStep: Hashable, Sendable {
  /// What a step does.
  public enum Kind: String, Hashable, Sendable {
    /// Makes an empty table.
    case createTable
    /// Copies the rows of an entity tree.
    case copyRows
    /// Gathers the links of a relationship whose storage changes.
    case gatherLinks
    /// Copies the links of a many-to-many relationship.
    case copyLinks
    /// Numbers the members of a relationship that becomes ordered.
    case orderMembers
    /// Runs entity mappings object by object, by their policies.
    case runMappings
    /// Leaves the rows of a table where they are in a copy of the store.
    case keepRows
    /// Changes the rows of a table where they are in a copy of the store.
    case changeRows
    /// Changes names and definitions, and no rows.
    case alterSchema
    /// Drops what the destination has no use for, or gets anew.
    case dropObject
    /// Finds the rows that decisions are about, in temporary tables.
    case findRows
    /// Removes or merges rows by decision, and leads their links elsewhere.
    case settleRows
    /// Computes a derived attribute.
    case computeDerived
    /// Makes an index.
    case createIndex
    /// Makes a trigger.
    case createTrigger
    /// Copies an object that no model knows: a table of the app, of history or of CloudKit, a view, a trigger.
    case copyObject
    /// Writes the entity numbers, the metadata or the model cache.
    case writeMetadata
    /// Does nothing: a deferred migration leaves something to be cleaned up after the launch.
    case leaveForLater
  }

  /// What the step does.
  public let kind: Kind
  /// The table, index or object that the step makes or fills.
  public let subject: String
  /// One line for a person.
  public let summary: String
  /// The rows that the step writes, counted on the store; `nil` where it writes none or the count is unknown before.
  public let rows: Int64?
  /// The statements, in order.
  package let statements: [PlannedStatement]

  /// Creates a step.
  package init(kind: Kind, subject: String, summary: String, rows: Int64? = nil, statements: [PlannedStatement]) {
    self.kind = kind
    self.subject = subject
    self.summary = PlainText.line(summary)
    self.rows = rows
    self.statements = statements
  }

  /// The statements as SQL text, each ended by a semicolon; what can't be shown as SQL is told in comments.
  ///
  /// It may be fed to a shell: no name of the store ends a statement or a comment, or begins a command of the shell's own.
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
  /// The rows that the statement must write, or the run is stopped; `nil` for any number.
  package let expectedRows: Int64?

  /// Creates a statement.
  package init(_ sql: String, values: [SQLiteValue] = [], expectedRows: Int64? = nil) {
    self.sql = sql
    self.values = values
    self.expectedRows = expectedRows
  }

  /// The SQL for a person.
  var text: String {
    SQLListing.text(of: sql) + (values.isEmpty ? "" : "  -- \(values.count) bound values")
  }
}
