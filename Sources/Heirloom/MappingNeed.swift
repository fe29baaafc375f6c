public import HeirloomMapping
public import HeirloomMigration

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
  public let skeleton: MappingSkeleton?

  /// Creates a need.
  package init(obstacles: [MappingObstacle] = [], losses: [MigrationLoss] = [], skeleton: MappingSkeleton? = nil) {
    self.obstacles = obstacles
    self.losses = losses
    self.skeleton = skeleton
  }
}
