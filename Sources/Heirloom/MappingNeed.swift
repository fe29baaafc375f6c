public import HeirloomMapping
public import HeirloomMigration
import HeirloomModel

/// The reason why a delegate is asked for a mapping.
public struct MappingNeed: Sendable {
  /// The name of the version to start from; for a model that the history doesn't have, such as one that only its snapshot
  /// knows, its version identifier, else its version checksum.
  public let sourceName: String?
  /// The name of the version to arrive at, likewise.
  public let destinationName: String?
  /// The obstacles to inference; empty if there are none.
  public let obstacles: [MappingObstacle]
  /// The inferred mapping's losses that nobody consented to, counted on the store; empty where there are obstacles.
  ///
  /// Nothing is counted while there are obstacles. Where the path leads over several versions and the delegate is asked
  /// about one step of it, these are still the losses of the whole path. They have the names of its ends.
  public let losses: [MigrationLoss]
  /// Swift source to start a mapping from, if there is something to fill in.
  ///
  /// - Complexity: For a need of losses, the models are compared anew each time; most delegates do without.
  public var skeleton: String? {
    made ?? inference.flatMap { MappingSkeleton($0, from: sourceName, to: destinationName)?.source }
  }

  /// The skeleton that was made when obstacles were found.
  private let made: String?
  /// The inference that the skeleton is made from otherwise.
  private let inference: MappingInference?

  /// Creates a need for a mapping where none was inferred.
  package init(
    obstacles: [MappingObstacle] = [], skeleton: String? = nil, from source: String? = nil,
    to destination: String? = nil
  ) {
    (sourceName, destinationName) = (source, destination)
    (self.obstacles, losses, made, inference) = (obstacles, [], skeleton, nil)
  }

  /// Creates a need for a mapping between two versions that makes inference possible, or keeps what would be lost.
  init(_ inference: MappingInference, losses: [MigrationLoss] = [], _ history: ModelHistory) {
    (sourceName, destinationName) = (history.label(of: inference.source), history.name(of: inference.destination))
    (obstacles, self.losses) = (inference.obstacles, losses)
    (made, self.inference) = (nil, inference)
  }
}
