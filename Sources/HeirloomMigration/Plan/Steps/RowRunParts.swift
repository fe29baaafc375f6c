import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The parts of a plan for the mappings that run object by object.
package final class RowRunParts: Hashable, Sendable {
  let source: PhysicalSchema
  let destination: PhysicalSchema
  /// The mappings, divided by how they run.
  let split: MappingSplit
  /// The keys of objects whose mappings run as SQL.
  let keys: KeyPlan
  /// The tables in which derived values follow from the objects that code makes.
  let derivedTables: Set<String>
  /// The places of objects that decisions removed.
  let removals: [RemovedObjects]
  /// The decisions about the objects of these mappings.
  let decided: RowRunDecisions
  /// The cells that only code can take along.
  let openLines: [OpenLine]
  /// The links that only code can take along.
  let openLinks: [OpenLinks]
  /// The queries of what SQL can say of each source row's destination object, by the name of the entity mapping.
  let valueSelections: [String: ValueSelection]

  init(
    of crossing: Crossing, derivedTables: Set<String>, removals: [RemovedObjects], decided: RowRunDecisions,
    account: Account, valueSelections: [String: ValueSelection]
  ) {
    (source, destination, split) = (crossing.source, crossing.destination, crossing.split)
    keys = crossing.routing.keys
    (self.derivedTables, self.removals, self.decided) = (derivedTables, removals, decided)
    (openLines, openLinks, self.valueSelections) = (account.openLines, account.openLinks, valueSelections)
  }

  /// Compares plans by what they do; the rest follows from the models and the mapping that they hold.
  package static func == (left: RowRunParts, right: RowRunParts) -> Bool {
    left.split.byRow == right.split.byRow && left.source.model == right.source.model
      && left.destination.model == right.destination.model
  }

  /// Hashes the mappings.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(split.byRow)
  }
}

/// The decisions about objects that are made one by one, which no step of SQL finds.
package struct RowRunDecisions: Sendable {
  /// The objects of the source that an entity mapping leaves out by decision.
  struct Exclusion: Hashable, Sendable {
    /// The name of the source entity.
    let source: String
    /// The name of the entity that they would have become.
    let destination: String
    /// The SQL of the condition that they meet, over the row `s`.
    let condition: String
    /// The number of the decision.
    let decision: Int
    /// The number of objects.
    let rows: Int64
  }

  /// A value for objects that code leaves without one.
  struct Fill: Hashable, Sendable {
    /// The destination entity.
    let entity: String
    /// The attribute's name or path.
    let property: String
    /// The value as an SQL literal.
    let literal: String
    /// The number of the decision.
    let decision: Int
  }

  /// The values that objects get where SQL makes them.
  var values = DecidedValues()
  /// The values that objects get where code makes them.
  var fills: [Fill] = []
  /// The decisions by which objects without a link get a new object, once the others are made.
  var links: [DataDecision] = []
  /// The objects that go to the file.
  var exclusions: [Exclusion] = []

  /// Returns the query of the keys of a source entity's objects that a mapping leaves out; `nil` for none.
  func excludedKeys(of mapping: EntityMapping, source: PhysicalSchema) -> String? {
    let excluded = exclusions.filter {
      $0.source == mapping.sourceEntityName && $0.destination == mapping.destinationEntityName
    }
    guard let first = excluded.first else { return nil }
    return Self.keys(of: first.source, excluded.map(\.condition), source)
  }

  /// Returns the query of the keys of objects that meet one of several conditions, with further columns.
  static func keys(
    of entity: String, _ conditions: [String], _ source: PhysicalSchema, and columns: String = ""
  ) -> String? {
    guard let entity = source.entity(named: entity) else { return nil }
    return
      "SELECT s.\(quote(PhysicalName.primaryKey))\(columns) FROM \(SchemaName.rows(of: entity.table, as: "s"))"
      + " WHERE s.\(quote(PhysicalName.entity)) = \(entity.number)"
      + " AND (\(conditions.map { "(\($0))" }.chained(by: "OR")))"
  }
}
