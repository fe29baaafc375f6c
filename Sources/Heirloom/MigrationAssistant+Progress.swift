public import Foundation
import HeirloomMigration

extension MigrationAssistant {
  /// The progress of a migration; cancelling it stops the migration and leaves the store as it was.
  ///
  /// Its units are rows that are written, added to new indexes or counted by the proof, and 4 KiB blocks that are
  /// copied or checked. They are counted several times a second, but not while the system syncs a file. The total is
  /// negative, and so indeterminate, until the plan is made. On a path of several hops, each remaining hop counts like
  /// the current one. A successful call completes the progress, even with nothing to do, so it can be a part of an
  /// app's own progress (`parent.addChild(assistant.progress, withPendingUnitCount: 1)`).
  ///
  /// Cancel it from any thread. It is checked every 10,000 instructions of a statement, while a file is copied or
  /// proven, after each object of a policy, and before the store is replaced; from then on it has no effect.
  /// ``migrateStore()`` throws an error with the code `cancelled`. Cancelling doesn't end a wait for another process,
  /// which lasts at most the times of the configuration.
  public package(set) var progress: Progress {
    get {
      if let madeProgress { return madeProgress }
      let progress = Progress(totalUnitCount: -1)
      madeProgress = progress
      return progress
    }
    set { madeProgress = newValue }
  }

  func beginProgress() {
    guard let madeProgress, madeProgress.completedUnitCount != 0 else { return }
    madeProgress.completedUnitCount = 0
    madeProgress.totalUnitCount = -1
  }

  /// Completes the progress even if no row had to be written.
  func finished(_ outcome: MigrationOutcome) -> MigrationOutcome {
    if let madeProgress {
      if madeProgress.totalUnitCount <= 0 { madeProgress.totalUnitCount = 1 }
      madeProgress.completedUnitCount = madeProgress.totalUnitCount
    }
    return observed(outcome)
  }

  func checkNotCancelled() throws(MigrationError) {
    if madeProgress?.isCancelled == true { throw .cancelled }
  }
}
