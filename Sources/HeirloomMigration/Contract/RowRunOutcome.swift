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
  /// The number of objects of the source entity that no mapping migrated; the previous version keeps them.
  public let leftBehind: Int64
}

/// Counts and losses of a run of code, which the plan can't predict.
struct RowRunOutcome {
  let results: [EntityMappingResult]
  /// Without the objects of subentities, for each destination entity that code may have changed.
  let objects: [String: Int64]
  /// For each table that code wrote to.
  let rowCounts: [String: Int64]
  /// Content that code was given and didn't read.
  let losses: [MigrationLoss]
  /// Links and orders that the destination can't hold; the plan may have counted them already.
  let recounted: [MigrationLoss]
  /// The number of requests for objects that decisions removed, by link.
  let removedLinks: [RemovedLink: Int64]
  /// The number of objects that got a decided value because code had set none, by the decision's index.
  let filled: [Int: Int64]
}
