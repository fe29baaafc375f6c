public import HeirloomMapping
public import HeirloomMigration
package import HeirloomModel

/// The reason why a delegate is asked for a mapping.
public struct MappingNeed: Sendable {
  /// All that can't be inferred; empty where all can.
  public let obstacles: [MappingObstacle]
  /// All that the inferred mapping would lose and nobody consented to, counted on the store; empty where there are obstacles, since
  /// nothing is counted then.
  ///
  /// Where the way leads over several versions and the delegate is asked about one step of it, these are the losses of the whole
  /// way, by the names of its ends.
  public let losses: [MigrationLoss]
  /// Swift source to start a mapping from, if there is something to fill in.
  ///
  /// - Complexity: The models are compared anew for a need of losses: most delegates know what to answer without.
  public var skeleton: MappingSkeleton? {
    made ?? models.flatMap { MappingSkeleton(from: $0.source, to: $0.destination) }
  }

  /// The skeleton that was made when obstacles were found.
  private let made: MappingSkeleton?
  /// The models that it is made of otherwise.
  private let models: (source: ManagedObjectModel, destination: ManagedObjectModel)?

  /// Creates a need for want of a mapping.
  package init(obstacles: [MappingObstacle] = [], skeleton: MappingSkeleton? = nil) {
    (self.obstacles, losses, made, models) = (obstacles, [], skeleton, nil)
  }

  /// Creates a need for what would be lost between two models.
  package init(losses: [MigrationLoss], from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    (obstacles, self.losses, made, models) = ([], losses, nil, (source, destination))
  }
}
