public import HeirloomMapping
public import HeirloomMigration
package import HeirloomModel

/// The reason why a delegate is asked for a mapping.
public struct MappingNeed: Sendable {
  /// The obstacles to inference; empty if there are none.
  public let obstacles: [MappingObstacle]
  /// The inferred mapping's losses that nobody consented to, counted on the store; empty where there are obstacles.
  ///
  /// Nothing is counted while there are obstacles. Where the path leads over several versions and the delegate is asked
  /// about one hop of it, these are still the losses of the whole path. They have the names of its ends.
  public let losses: [MigrationLoss]
  /// Swift source to start a mapping from, if there is something to fill in.
  ///
  /// - Complexity: For a need of losses, the models are compared anew each time; most delegates do without.
  public var skeleton: String? {
    made ?? models.flatMap { MappingSkeleton(from: $0.source, to: $0.destination)?.source }
  }

  /// The skeleton that was made when obstacles were found.
  private let made: String?
  /// The models that the skeleton is made from otherwise.
  private let models: (source: ManagedObjectModel, destination: ManagedObjectModel)?

  /// Creates a need for a mapping where none was inferred.
  package init(obstacles: [MappingObstacle] = [], skeleton: String? = nil) {
    (self.obstacles, losses, made, models) = (obstacles, [], skeleton, nil)
  }

  /// Creates a need for a mapping that keeps what would be lost between two models.
  package init(losses: [MigrationLoss], from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    (obstacles, self.losses, made, models) = ([], losses, nil, (source, destination))
  }
}
