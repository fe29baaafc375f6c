import HeirloomModel

/// A known version other than a store's, with the entities that differ.
public struct NearVersion: Hashable, Sendable {
  /// The version's name.
  public let name: String
  /// The entities whose version hashes differ, sorted.
  public let differingEntities: [String]

  package init(name: String, differingEntities: [String]) {
    self.name = name
    self.differingEntities = differingEntities
  }
}

extension NearVersion {
  package static func nearest(_ versions: [NearVersion]) -> [NearVersion] {
    Array(versions.ordered { $0.differingEntities.count < $1.differingEntities.count }.prefix(3))
  }
}
