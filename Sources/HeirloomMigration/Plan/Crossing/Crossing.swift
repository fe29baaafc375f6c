import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// A source and a destination with the mappings and routes between them, as a plan sees them.
final class Crossing {
  /// The store's tables as they are.
  let actual: ActualSchema
  /// The tables of the source's model, including columns outside it.
  let source: PhysicalSchema
  /// The candidate's tables, including the copied columns outside the model.
  let destination: PhysicalSchema
  let split: MappingSplit
  /// The routes of the objects whose mappings run as SQL.
  let routing: EntityRouting
  let counts: StoreCounts
  /// The key columns that refer to objects of another entity than the model, or the column beside the key, says.
  ///
  /// Another program changed the entity of such an object without changing the entity number beside the key, or to one
  /// outside the relationship's tree whose objects leave the table.
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

  /// Returns true if some objects of a source entity are made object by object.
  func isByCode(_ entity: String) -> Bool {
    split.byRow.contains { $0.sourceEntityName == entity && $0.destinationEntityName != nil }
  }

  func to(_ destination: PhysicalSchema) -> Crossing {
    Crossing(
      actual: actual, source: source, destination: destination, split: split, routing: routing, counts: counts,
      misleadingKeys: misleadingKeys)
  }

  /// Returns the same crossing with other routes, for rows that aren't counted.
  func uncounted(by routing: EntityRouting) -> Crossing {
    Crossing(
      actual: actual, source: source, destination: destination, split: split, routing: routing, counts: StoreCounts())
  }
}
