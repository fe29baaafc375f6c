import Foundation

/// The settings of a vault.
package struct VaultConfiguration {
  /// The time to wait for another assistant.
  package var lockTimeout: Duration = .seconds(10)
  /// The time to wait for other processes to close the store.
  package var holdTimeout: Duration = .seconds(5)
  /// True to work also on volumes where the store survives the process's death, but maybe not a loss of power.
  package var allowUnsafeVolume = false
  /// True to continue where new files can't get the store's protection class.
  package var allowLostProtection = false
  /// The space that must stay free beyond the need, in bytes.
  package var reservedBytes: UInt64 = 64 << 20
  /// True to refuse a store whose `-wal` can't be read to its end; false to keep the log with the version.
  package var stopsAtUnreadableLog = false
  /// The seconds without a write after which a plan made before the hold is still valid for the held store.
  ///
  /// It is longer than the resolution of times (2 seconds) on any trusted file system.
  package var restTime: Double = 3
  /// True to exclude previous versions from backups, false to include them, `nil` to change nothing.
  package var excludesPreviousVersionsFromBackup: Bool?
  /// True to migrate a set-aside store in its folder; any other kept store is never changed.
  package var worksOnKeptStore = false
  /// The clock, which returns the time in seconds since 1970-01-01 UTC.
  package var now: () -> Int64 = { Int64(Date().timeIntervalSince1970) }

  /// Creates the settings for an app.
  package init() {}

  /// Returns the space in bytes that a volume must have for the files to be built, with a margin and the reserve.
  package func bytesNeeded(toBuild bytes: UInt64, besides kept: UInt64 = 0) -> UInt64 {
    // A tenth more, since the need is an estimate.
    [bytes / 10, reservedBytes, kept].reduce(bytes) { sum, part in
      let sum = sum.addingReportingOverflow(part)
      return sum.overflow ? .max : sum.partialValue
    }
  }
}
