/// A named subset of a model's entities; a store may contain only these.
public struct ConfigurationDescription: Hashable, Sendable {
  /// The configuration's name.
  public var name: String
  /// The names of its entities, sorted.
  public var entityNames: [String]

  /// Creates a configuration.
  public init(name: String, entityNames: [String]) {
    self.name = name
    self.entityNames = entityNames
  }
}
