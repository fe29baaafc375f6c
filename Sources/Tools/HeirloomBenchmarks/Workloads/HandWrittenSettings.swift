/// SQLite's fastest settings for the limits, found by measurement; they are set only here.
enum HandWrittenSettings {
  /// Rows and index entries come in order, so 8 MiB would only cost time, up to a quarter.
  static let cache = "cache_size = -2048"

  /// The size, in bytes, from which a second thread sorts the titles for an index.
  ///
  /// At this size it saves a fifteenth of the time, and a fifth at a million notes, if a second
  /// processor is idle. Below it, it takes a fifth more processor time and saves no elapsed time.
  /// For the indexes of keys in W2 and W4, no gain was measured.
  private static let leastBytesForThreads: Int64 = 100_000_000

  /// For a clone that is discarded on failure, each without `PRAGMA`.
  ///
  /// `sortedBytes` is the size of the store if its titles are indexed, else 0. `synchronous` comes
  /// first, because leaving WAL mode would sync the whole clone, which is then written again.
  static func clone(sortedBytes: Int64) -> [String] {
    ["locking_mode = EXCLUSIVE", "synchronous = OFF", "journal_mode = OFF"] + sorting(sortedBytes)
  }

  static func inPlace(sortedBytes: Int64) -> [String] {
    ["journal_mode = DELETE", "locking_mode = EXCLUSIVE", "synchronous = FULL"] + sorting(sortedBytes)
  }

  private static func sorting(_ sortedBytes: Int64) -> [String] {
    [cache] + (sortedBytes >= leastBytesForThreads ? ["threads = 1"] : [])
  }
}
