public import HeirloomMapping
public import HeirloomMigration
import HeirloomModel

/// The reason why a delegate is asked for a mapping.
public struct MappingNeed: Sendable {
  /// The name of the source version.
  ///
  /// For a model that the history doesn't have, such as one that only its snapshot has, it is the version identifier,
  /// or else the version checksum.
  public let sourceName: String?
  /// The name of the destination version, or the same substitutes.
  public let destinationName: String?
  /// The obstacles to inference; empty if there are none.
  public let obstacles: [MappingObstacle]
  /// The inferred mapping's losses without consent, counted on the store; empty if there are obstacles.
  ///
  /// If the path has several hops and the delegate is asked about one of them, these are still the losses of the whole
  /// path, under the names of its first and last version.
  public let losses: [MigrationLoss]
  /// Swift source to start a mapping from, if there is something to fill in.
  ///
  /// - Complexity: For a need with losses, the models are compared each time; most delegates don't use it.
  public var skeleton: String? {
    made ?? inference.flatMap { MappingSkeleton($0, from: sourceName, to: destinationName)?.source }
  }

  private let made: String?
  private let inference: MappingInference?

  package init(
    obstacles: [MappingObstacle] = [], skeleton: String? = nil, from source: String? = nil,
    to destination: String? = nil
  ) {
    (sourceName, destinationName) = (source, destination)
    (self.obstacles, losses, made, inference) = (obstacles, [], skeleton, nil)
  }

  init(_ inference: MappingInference, losses: [MigrationLoss] = [], _ history: ModelHistory) {
    (sourceName, destinationName) = (history.label(of: inference.source), history.name(of: inference.destination))
    (obstacles, self.losses) = (inference.obstacles, losses)
    (made, self.inference) = (nil, inference)
  }
}
