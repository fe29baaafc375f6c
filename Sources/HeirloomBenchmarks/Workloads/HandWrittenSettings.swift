/// The settings with which SQLite does the limits' work soonest, by measurement; they are changed here alone.
enum HandWrittenSettings {
  /// The cache: rows and index entries come in order, so that 8 MiB take a tenth to a quarter more processor time.
  static let cache = "cache_size = -2048"

  /// The least store whose indexes are sorted by a second thread, in bytes.
  ///
  /// Below it, a thread takes a fifth more processor time and saves none on the clock.
  private static let leastBytesForThreads: Int64 = 100_000_000

  /// Returns the settings for changing a copy that is thrown away if anything goes wrong.
  ///
  /// - Parameter storeBytes: The size of the store.
  /// - Returns: Statements, each without `PRAGMA`. Synchronous comes first: leaving WAL mode would sync the whole
  ///   clone, which is then written again.
  static func clone(storeBytes: Int64) -> [String] {
    ["locking_mode = EXCLUSIVE", "synchronous = OFF", "journal_mode = OFF"] + sorting(storeBytes: storeBytes)
  }

  /// Returns the settings for changing the store itself.
  static func inPlace(storeBytes: Int64) -> [String] {
    ["journal_mode = DELETE", "locking_mode = EXCLUSIVE", "synchronous = FULL"] + sorting(storeBytes: storeBytes)
  }

  private static func sorting(storeBytes: Int64) -> [String] {
    [cache] + (storeBytes >= leastBytesForThreads ? ["threads = 1"] : [])
  }
}
