import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// A source and a destination with the mappings and routes between them, as a plan sees them.
final class Crossing {
  let actual: ActualSchema
  /// Includes columns outside the model.
  let source: PhysicalSchema
  /// Includes the copied columns outside the model.
  let destination: PhysicalSchema
  let split: MappingSplit
  /// Only of objects whose mappings run as SQL.
  let routing: EntityRouting
  let counts: StoreCounts
  /// Key columns whose objects are of another entity than the model or the row's number says.
  ///
  /// Another program changed such an object's entity without the number beside the key, or to an
  /// entity outside the relationship's tree whose objects leave the table.
  let misleadingKeys: Set<RelationshipStorage>
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

  /// Empty if the objects are dropped.
  func flows(of entity: String) -> [RowFlow] { flows.flows(fromSource: entity) }

  func isByCode(_ entity: String) -> Bool {
    split.byRow.contains { $0.sourceEntityName == entity && $0.destinationEntityName != nil }
  }

  func to(_ destination: PhysicalSchema) -> Crossing {
    Crossing(
      actual: actual, source: source, destination: destination, split: split, routing: routing, counts: counts,
      misleadingKeys: misleadingKeys)
  }

  func uncounted(by routing: EntityRouting) -> Crossing {
    Crossing(
      actual: actual, source: source, destination: destination, split: split, routing: routing, counts: StoreCounts())
  }
}
