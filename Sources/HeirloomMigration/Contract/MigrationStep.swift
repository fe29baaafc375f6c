import HeirloomModel
package import HeirloomStore

/// One action of a builder that makes the candidate store.
///
/// Steps are values: a plan can be shown to a person, as text or as SQL, before anything is touched.
public struct MigrationStep: Hashable, Sendable {
  /// A kind of step.
  package enum Kind: String, Hashable, Sendable {
    /// A step that makes an empty table.
    case createTable
    /// A step that copies the rows of an entity tree.
    case copyRows
    /// A step that gathers the links of a relationship whose storage changes.
    case gatherLinks
    /// A step that copies the links of a many-to-many relationship.
    case copyLinks
    /// A step that numbers the members of a relationship that becomes ordered.
    case orderMembers
    /// A step that runs entity mappings object by object, by their policies.
    case runMappings
    /// A step that leaves the rows of a table where they are in a copy of the store.
    case keepRows
    /// A step that changes the rows of a table where they are in a copy of the store.
    case changeRows
    /// A step that changes names and definitions, and no rows.
    case alterSchema
    /// A step that drops an object that the destination doesn't use, or gets anew.
    case dropObject
    /// A step that finds the rows that decisions are about, in temporary tables.
    case findRows
    /// A step that removes or merges rows by decision, and redirects their links.
    case decideRows = "settleRows"
    /// A step that computes a derived attribute.
    case computeDerived
    /// A step that makes an index.
    case createIndex
    /// A step that makes a trigger.
    case createTrigger
    /// A step that copies an object that no model knows: a table of the app, history or CloudKit, a view, a trigger.
    case copyObject
    /// A step that writes the entity numbers, the metadata or the model cache.
    case writeMetadata
    /// A step that does nothing: a deferred migration leaves something to be cleaned up after the launch.
    case leaveForLater
  }

  /// The kind of step.
  package let kind: Kind
  /// The table, index or object that the step makes or fills.
  public let subject: String
  /// A line that tells a person about the step.
  public let summary: String
  /// The number of rows that the step writes, counted on the store; `nil` for none or an unknown count.
  public let rows: Int64?
  /// The table whose rows the step enters in an index; `nil` for any other step.
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

  /// The statements as SQL text, each ended by a semicolon, with comments for what can't be shown as SQL.
  ///
  /// It may be fed to a shell: no name of the store ends a statement or a comment, or begins a command of the shell's
  /// own.
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
  /// The number of rows that the statement must write, or the run stops; `nil` for any number.
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
