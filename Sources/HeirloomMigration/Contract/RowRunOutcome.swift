import HeirloomModel

/// The result of an entity mapping that ran object by object.
public struct EntityMappingResult: Hashable, Sendable {
  /// The name of the entity mapping.
  public let mapping: String
  /// The name of its policy; `nil` for the standard one.
  public let policy: String?
  /// The name of the source entity; `nil` if there is none.
  public let sourceEntity: String?
  /// The name of the destination entity; `nil` if there is none.
  public let destinationEntity: String?
  /// The number of source objects that the mapping took.
  public let sourceObjects: Int64
  /// The number of objects of the destination entity that were associated with them.
  public let destinationObjects: Int64
  /// The number of objects of the source entity that became nothing by any mapping; the previous version keeps them.
  public let leftBehind: Int64
}

/// The outcome of code that no plan could foresee.
struct RowRunOutcome {
  /// The result of each mapping.
  let results: [EntityMappingResult]
  /// The number of objects of each destination entity that code may have made or removed, without those of subentities.
  let objects: [String: Int64]
  /// The number of rows of each table that code wrote to.
  let rowCounts: [String: Int64]
  /// The losses of what code was given and didn't read.
  let losses: [MigrationLoss]
  /// The losses of links and orders for which the destination has no room, which the plan may have counted.
  let recounted: [MigrationLoss]
  /// The number of requests for links to objects that decisions removed.
  let removedLinks: [RemovedLink: Int64]
  /// The number of objects that got a value which code hadn't given them, by the number of the decision.
  let filled: [Int: Int64]
}
