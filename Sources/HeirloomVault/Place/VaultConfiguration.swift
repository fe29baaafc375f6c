import Foundation

package struct VaultConfiguration {
  package var lockTimeout: Duration = .seconds(10)
  package var holdTimeout: Duration = .seconds(5)
  /// There the store survives the process's death, but maybe not a loss of power.
  package var allowUnsafeVolume = false
  package var allowLostProtection = false
  package var reservedBytes: UInt64 = 64 << 20
  package var stopsAtUnreadableLog = false
  /// In seconds without a write: longer than the resolution of times (2) on any trusted file
  /// system.
  package var restTime: Double = 3
  package var excludesPreviousVersionsFromBackup: Bool?
  /// True to migrate a set-aside store in its folder; any other kept store is never changed.
  package var worksOnKeptStore = false
  /// In seconds since 1970-01-01 UTC.
  package var now: () -> Int64 = { Int64(Date().timeIntervalSince1970) }

  package init() {}

  package func bytesNeeded(toBuild bytes: UInt64, besides kept: UInt64 = 0) -> UInt64 {
    // A tenth more, since the need is an estimate.
    [bytes / 10, reservedBytes, kept].reduce(bytes) { sum, part in
      let sum = sum.addingReportingOverflow(part)
      return sum.overflow ? .max : sum.partialValue
    }
  }
}
