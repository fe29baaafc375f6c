package import Heirloom

/// The time of a migration, compared with the limit for an app's launch.
///
/// iOS kills an app that takes about 20 s to launch (the watchdog's 0x8BADF00D), and the next
/// launch starts the migration again.
package struct LaunchTime {
  /// Half of the system's limit: the estimate is rough, phones differ, and the app has other work.
  package static let limit: Double = 10.0

  private let seconds: Double
  private let isMeasured: Bool
  /// True if clean-up is deferred already.
  private let isDeferred: Bool

  package init(seconds: Double, isMeasured: Bool, isDeferred: Bool) {
    self.seconds = seconds
    self.isMeasured = isMeasured
    self.isDeferred = isDeferred
  }

  /// `seconds` is the measured time; `nil` takes the plan's estimate.
  package init(_ plan: MigrationPlan, seconds: Double? = nil) {
    self.init(
      seconds: seconds ?? plan.estimatedDuration / .seconds(1), isMeasured: seconds != nil,
      isDeferred: !plan.deferred.isEmpty)
  }

  /// Empty unless the migration is too long.
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
