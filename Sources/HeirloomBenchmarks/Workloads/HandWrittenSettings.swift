/// The settings with which SQLite does the limits' work soonest, by measurement; they are changed here alone.
enum HandWrittenSettings {
  /// The cache: rows and index entries come in order, so that 8 MiB only cost time, up to a quarter.
  static let cache = "cache_size = -2048"

  /// The least store whose titles are sorted for an index by a second thread, in bytes.
  ///
  /// There it saves a fifteenth of the time, and a fifth at a million notes, if a second processor is idle. Below it,
  /// it takes a fifth more processor time and saves none on the clock; for the indexes of keys in W2 and W4 no gain was
  /// measured.
  private static let leastBytesForThreads: Int64 = 100_000_000

  /// Returns the settings for changing a copy that is thrown away if anything goes wrong.
  ///
  /// - Parameter sortedBytes: The size of the store if its titles get an index, or 0.
  /// - Returns: Statements, each without `PRAGMA`. Synchronous comes first: leaving WAL mode would sync the whole
  ///   clone, which is then written again.
  static func clone(sortedBytes: Int64) -> [String] {
    ["locking_mode = EXCLUSIVE", "synchronous = OFF", "journal_mode = OFF"] + sorting(sortedBytes)
  }

  /// Returns the settings for changing the store itself.
  static func inPlace(sortedBytes: Int64) -> [String] {
    ["journal_mode = DELETE", "locking_mode = EXCLUSIVE", "synchronous = FULL"] + sorting(sortedBytes)
  }

  private static func sorting(_ sortedBytes: Int64) -> [String] {
    [cache] + (sortedBytes >= leastBytesForThreads ? ["threads = 1"] : [])
  }
}
