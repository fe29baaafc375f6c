public import Foundation
import HeirloomMigration

// How far a migration is, and how it is stopped.
extension MigrationAssistant {
  /// How far a migration is, in rows; cancelling it stops the migration and leaves the store as it was.
  ///
  /// Its units are rows that are written. Their number is negative, and so not determined, until the plan is made; on a way of
  /// several steps the steps to come count like the one under way. A call that ends well completes it, also where there was
  /// nothing to do, so that it can be a part of an app's own progress (`parent.addChild(assistant.progress, withPendingUnitCount: 1)`).
  /// When all rows are written there is still the proof to come; a parent that is cancelled then doesn't reach it any more, since to
  /// Foundation it is finished.
  ///
  /// Cancel it from any thread. It is looked at every 10,000 instructions of a statement, after each object of a policy and before
  /// the store is replaced; from then on it has no effect. ``migrateStore()`` throws an error with the code `cancelled`. While an
  /// assistant waits for another process it goes on waiting, at most for the times of its configuration.
  public internal(set) var progress: Progress {
    get {
      if let madeProgress { return madeProgress }
      let progress = Progress(totalUnitCount: -1)
      madeProgress = progress
      return progress
    }
    set { madeProgress = newValue }
  }

  /// Starts counting anew where an earlier call of the same assistant has counted.
  func beginProgress() {
    guard let madeProgress, madeProgress.completedUnitCount != 0 else { return }
    madeProgress.completedUnitCount = 0
    madeProgress.totalUnitCount = -1
  }

  /// Completes a progress that somebody looks at, also where no row was to be written.
  func finished(_ outcome: MigrationOutcome) -> MigrationOutcome {
    if let madeProgress {
      if madeProgress.totalUnitCount <= 0 { madeProgress.totalUnitCount = 1 }
      madeProgress.completedUnitCount = madeProgress.totalUnitCount
    }
    return observed(outcome)
  }

  /// Stops where it was cancelled.
  func checkNotCancelled() throws(MigrationError) {
    if madeProgress?.isCancelled == true { throw .cancelled }
  }
}
