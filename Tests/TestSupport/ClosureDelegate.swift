package import Heirloom
import Testing

/// A delegate that answers with its closures, and keeps what it is asked and told.
package final class ClosureDelegate: MigrationAssistantDelegate {
  package var mapping: (ManagedObjectModel, ManagedObjectModel, MappingNeed) throws -> MappingModel?
  package var decision: (MigrationPlan) throws -> MigrationDecision
  package let model: ManagedObjectModel?
  package let onEvent: (MigrationEvent) throws -> Void

  package private(set) var needs: [MappingNeed] = []
  package private(set) var plans: [MigrationPlan] = []
  package var events: [MigrationEvent] = []

  /// Without arguments it answers as no delegate does.
  ///
  /// An error that `onEvent` throws is an issue of the test.
  package init(
    mapping: @escaping (ManagedObjectModel, ManagedObjectModel, MappingNeed) throws -> MappingModel? = { _, _, _ in nil
    },
    decision: @escaping (MigrationPlan) throws -> MigrationDecision = { _ in .automatic },
    model: ManagedObjectModel? = nil, onEvent: @escaping (MigrationEvent) throws -> Void = { _ in }
  ) {
    (self.mapping, self.decision, self.model, self.onEvent) = (mapping, decision, model, onEvent)
  }

  package func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel? {
    needs.append(need)
    return try mapping(source, destination, need)
  }

  package func migrationAssistant(
    _ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan
  ) throws -> MigrationDecision {
    plans.append(plan)
    return try decision(plan)
  }

  package func migrationAssistant(
    _ assistant: MigrationAssistant, modelForStoreWith metadata: StoreMetadata
  ) throws -> ManagedObjectModel? { model }

  package func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    events.append(event)
    do { try onEvent(event) } catch { Issue.record(error) }
  }
}
