import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The parts of a plan for the mappings that run object by object.
package final class RowRunParts: Hashable, Sendable {
  let source: PhysicalSchema
  let destination: PhysicalSchema
  let split: MappingSplit
  /// Only of objects whose mappings run as SQL.
  let keys: KeyPlan
  let derivedTables: Set<String>
  let removals: [RemovedObjects]
  let decided: RowRunDecisions
  let pendingCells: [PendingCells]
  let pendingLinks: [PendingLinks]
  /// By entity mapping name.
  let valueSelections: [String: ValueSelection]

  init(
    of crossing: Crossing, derivedTables: Set<String>, removals: [RemovedObjects], decided: RowRunDecisions,
    account: Account, valueSelections: [String: ValueSelection]
  ) {
    (source, destination, split) = (crossing.source, crossing.destination, crossing.split)
    keys = crossing.routing.keys
    (self.derivedTables, self.removals, self.decided) = (derivedTables, removals, decided)
    (pendingCells, pendingLinks, self.valueSelections) = (account.pendingCells, account.pendingLinks, valueSelections)
  }

  /// The rest is derived from what is compared here.
  package static func == (left: RowRunParts, right: RowRunParts) -> Bool {
    left.split.byRow == right.split.byRow && left.source.model == right.source.model
      && left.destination.model == right.destination.model
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(split.byRow)
  }
}

/// The decisions about objects that are made object by object, which no SQL step finds.
package struct RowRunDecisions: Sendable {
  struct Exclusion: Hashable, Sendable {
    let source: String
    let destination: String
    let condition: String
    /// The decision's index.
    let decision: Int
    let rows: Int64
  }

  /// A value for objects to which code gives none.
  struct Fill: Hashable, Sendable {
    let entity: String
    let property: String
    let literal: String
    /// The decision's index.
    let decision: Int
  }

  /// Of objects that SQL makes.
  var values = DecidedValues()
  /// Of objects that code makes.
  var fills: [Fill] = []
  /// The decisions to give objects without a link a new object, once the others are made.
  var links: [DataDecision] = []
  /// The objects that are written to the quarantine file.
  var exclusions: [Exclusion] = []

  func excludedKeys(of mapping: EntityMapping, source: PhysicalSchema) -> String? {
    let excluded = exclusions.filter {
      $0.source == mapping.sourceEntityName && $0.destination == mapping.destinationEntityName
    }
    guard let first = excluded.first else { return nil }
    return Self.keys(of: first.source, excluded.map(\.condition), source)
  }

  /// `columns` are additional ones, each after a comma.
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
