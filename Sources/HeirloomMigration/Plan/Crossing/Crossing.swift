import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// A source and a destination with the way between them, as a plan sees it.
final class Crossing {
  /// The store's tables as they are.
  let actual: ActualSchema
  /// The tables of the source's model, with the columns in them that no model knows.
  let source: PhysicalSchema
  /// The candidate's tables, with the columns of no model that come along.
  let destination: PhysicalSchema
  /// The entity mappings, divided by how they run.
  let split: MappingSplit
  /// The routes of the objects whose mappings run as SQL.
  let routing: EntityRouting
  /// The objects of the store.
  let counts: StoreCounts
  /// The key columns with keys of objects whose entity is not the one that the model or the column beside says.
  ///
  /// Another program changed the entity of such an object: to one outside the relationship's tree whose objects leave the
  /// table, or without changing the entity number beside the key.
  let misleadingKeys: Set<RelationshipStorage>
  /// The entity mappings that carry objects.
  private(set) lazy var flows = RowFlows(
    of: split.declarative.entityMappings + split.byRow, from: source.model, to: destination.model)

  init(
    actual: ActualSchema, source: PhysicalSchema, destination: PhysicalSchema, split: MappingSplit,
    routing: EntityRouting, counts: StoreCounts, misleadingKeys: Set<RelationshipStorage> = []
  ) {
    self.actual = actual
    self.source = source
    self.destination = destination
    self.split = split
    self.routing = routing
    self.counts = counts
    self.misleadingKeys = misleadingKeys
  }

  /// Returns the entity mappings that carry the objects of exactly one source entity; none if the objects are dropped.
  func flows(of entity: String) -> [RowFlow] { flows.flows(fromSource: entity) }

  /// Returns true if objects of a source entity are made one by one, whatever else takes some of them.
  func isByCode(_ entity: String) -> Bool {
    split.byRow.contains { $0.sourceEntityName == entity && $0.destinationEntityName != nil }
  }

  /// Returns the same crossing to other tables.
  func to(_ destination: PhysicalSchema) -> Crossing {
    Crossing(
      actual: actual, source: source, destination: destination, split: split, routing: routing, counts: counts,
      misleadingKeys: misleadingKeys)
  }

  /// Returns the same crossing with other routes, for rows that nobody has counted.
  func uncounted(by routing: EntityRouting) -> Crossing {
    Crossing(
      actual: actual, source: source, destination: destination, split: split, routing: routing, counts: StoreCounts())
  }
}
