package import Heirloom

/// Whether a migration takes too long for an app's launch.
///
/// iOS ends an app that is not up about 20 s after its start (the watchdog's 0x8BADF00D), and the next launch begins again.
package struct LaunchTime {
  /// The time from which a migration is too long: half of what a system allows, since the estimate is rough, phones differ, and
  /// the app has more to do at its start.
  package static let limit: Double = 10.0

  /// The time, in seconds.
  private let seconds: Double
  /// Whether the time was measured.
  private let isMeasured: Bool
  /// Whether clean-up is left for later already.
  private let isDeferred: Bool

  /// Judges a time.
  ///
  /// - Parameters:
  ///   - seconds: The time.
  ///   - isMeasured: Whether the time was measured.
  ///   - isDeferred: Whether clean-up is left for later already.
  package init(seconds: Double, isMeasured: Bool, isDeferred: Bool) {
    self.seconds = seconds
    self.isMeasured = isMeasured
    self.isDeferred = isDeferred
  }

  /// Looks at a plan.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - seconds: The time that was measured; `nil` for the plan's estimate.
  package init(_ plan: MigrationPlan, seconds: Double? = nil) {
    self.init(
      seconds: seconds ?? plan.estimatedSeconds, isMeasured: seconds != nil, isDeferred: !plan.lastDeferred.isEmpty)
  }

  /// A sentence or two for a migration that is too long; nothing for another.
  package var words: [String] {
    guard seconds >= Self.limit else { return [] }
    let time = isMeasured ? "took \(durationText(seconds)) here" : "takes about \(durationText(seconds))"
    let later =
      isDeferred ? "" : " Or leave clean-up for after the launch, with --defer, if that is what takes so long."
    return [
      "This \(time), which is too long for a launch: iOS ends an app that is not up after about 20 s, and the next launch"
        + " starts again. Migrate on a background task, behind a screen that says so.\(later)"
    ]
  }
}
