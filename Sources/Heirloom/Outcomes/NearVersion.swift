/// A known version that a store is not of, with the entities that differ.
public struct NearVersion: Hashable, Sendable {
  /// The version's name.
  public let name: String
  /// The entities whose version hashes differ, sorted.
  public let differingEntities: [String]

  /// Creates a description.
  package init(name: String, differingEntities: [String]) {
    self.name = name
    self.differingEntities = differingEntities
  }
}
