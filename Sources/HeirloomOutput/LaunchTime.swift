package import Heirloom

/// The time of a migration, judged against the limit for an app's launch.
///
/// iOS ends an app that is not up about 20 s after its start (the watchdog's 0x8BADF00D),
/// and the next launch begins again.
package struct LaunchTime {
  /// The time from which a migration is too long, in seconds.
  ///
  /// It is half of the time that a system allows: the estimate is rough, phones differ, and the app has more to do.
  package static let limit: Double = 10.0

  /// The time, in seconds.
  private let seconds: Double
  /// True when the time was measured.
  private let isMeasured: Bool
  /// True when clean-up is already left for later.
  private let isDeferred: Bool

  /// Creates a judgement of a time.
  ///
  /// - Parameters:
  ///   - seconds: The time, in seconds.
  ///   - isMeasured: True when the time was measured.
  ///   - isDeferred: True when clean-up is already left for later.
  package init(seconds: Double, isMeasured: Bool, isDeferred: Bool) {
    self.seconds = seconds
    self.isMeasured = isMeasured
    self.isDeferred = isDeferred
  }

  /// Creates a judgement of a plan's time.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - seconds: The measured time, in seconds; `nil` for the plan's estimate.
  package init(_ plan: MigrationPlan, seconds: Double? = nil) {
    self.init(
      seconds: seconds ?? plan.estimatedDuration / .seconds(1), isMeasured: seconds != nil,
      isDeferred: !plan.deferred.isEmpty)
  }

  /// The advice for a migration that is too long, in two or three sentences; empty for any other.
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
