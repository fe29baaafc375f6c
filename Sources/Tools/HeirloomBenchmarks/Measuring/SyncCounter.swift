internal import CSyncCounter

/// Counts all syncs of this process: by Heirloom, by SQLite and by hand-written migrations.
struct SyncCounter {
  private let start = heirloom_sync_count()

  /// Calls of `fsync` and `fdatasync`; `nil` on systems where they aren't counted.
  var count: Int? {
    let now = heirloom_sync_count()
    return now < 0 ? nil : Int(now - start)
  }
}
