internal import CSyncCounter

/// A counter of this process's waits for the disk, whoever asks for them: Heirloom, SQLite or a migration by hand.
struct SyncCounter {
  private let start = heirloom_sync_count()

  /// The calls of `fsync` and `fdatasync` since the counter was made; `nil` on systems where they aren't counted.
  var count: Int? {
    let now = heirloom_sync_count()
    return now < 0 ? nil : Int(now - start)
  }
}
