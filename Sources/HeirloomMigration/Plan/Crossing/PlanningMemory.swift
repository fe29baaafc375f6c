import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// A cache of the parts of plans that depend only on models, mappings and schemas.
///
/// Each part is stored with everything that decides it, so a plan is the same with the cache as
/// without. The cache is bounded, so it doesn't grow with the number of stores.
package final class PlanningMemory: Sendable {
  private struct SchemaKey: Equatable {
    let model: ManagedObjectModel
    let actual: ActualSchema?
    let joinOwners: Set<String>
  }

  private struct EffectsKey: Equatable {
    let mapping: MappingModel
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    let abstractEntities: Set<String>
  }

  private let schemas = RecentValues<SchemaKey, PhysicalSchema>()
  private let effects = RecentValues<EffectsKey, [DataEffect]>()
  private let caches = RecentValues<ManagedObjectModel, [UInt8]>()

  package init() {}

  func schema(
    of model: ManagedObjectModel, actual: ActualSchema? = nil, joinOwners: Set<String> = []
  ) -> PhysicalSchema {
    schemas.value(for: SchemaKey(model: model, actual: actual, joinOwners: joinOwners)) {
      PhysicalSchema(model: model, actual: actual, joinOwners: joinOwners)
    }
  }

  func effects(
    of mapping: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    abstractEntities: Set<String>
  ) -> [DataEffect] {
    let key = EffectsKey(
      mapping: mapping, source: source, destination: destination, abstractEntities: abstractEntities)
    return effects.value(for: key) {
      mapping.effects(from: source, to: destination, abstractEntities: abstractEntities)
    }
  }

  func cache(of model: ManagedObjectModel) throws(FormatError) -> [UInt8] {
    try caches.value(for: model) { () throws(FormatError) in try ModelArchiveWriter.cache(model) }
  }
}

private final class RecentValues<Key: Equatable & Sendable, Value: Sendable>: Sendable {
  /// The stores of a fleet are of few versions.
  private static var limit: Int { 8 }

  private let entries = Locked<[(key: Key, value: Value)]>([])

  /// Several threads may make the value of one key at once.
  func value<Failure: Error>(for key: Key, make: () throws(Failure) -> Value) throws(Failure) -> Value {
    // Compared outside the lock, so other stores need not wait.
    if let known = entries.withLock({ $0 }).last(where: { $0.key == key }) { return known.value }
    let value = try make()
    entries.withLock { entries in
      if entries.count >= Self.limit { entries.removeFirst() }
      entries.append((key, value))
    }
    return value
  }
}
