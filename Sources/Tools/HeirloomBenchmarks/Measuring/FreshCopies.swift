import Heirloom

/// Copies of a store for the runs of a round, made in batches that fit into memory.
struct FreshCopies {
  let ways: [MigrationBenchmark.Way]
  private let original: String
  private let size: Int64

  /// The most bytes of copies at once, because they must not evict the measured files from memory.
  private static let waitingBytes: Int64 = 1 << 30

  /// Makes batches as large as possible, because a whole batch comes to rest at once.
  ///
  /// `original` has an empty `-wal`.
  static func batches(
    of original: String, size: Int64, for ways: [MigrationBenchmark.Way]
  ) -> [FreshCopies] {
    let count = min(ways.count, max(1, Int(waitingBytes / max(1, size))))
    return stride(from: 0, to: ways.count, by: max(1, count)).map { start in
      FreshCopies(ways: Array(ways[start..<min(start + count, ways.count)]), original: original, size: size)
    }
  }

  /// Waits until the copies are at rest; returns their paths in the order of ``ways``.
  func make(in folder: String) throws(FileError) -> [String] {
    // The memory is for the copies, a clone and an index.
    TouchedMemory.prepare(byteCount: size * Int64(ways.count + 2))
    // The copies are synced before the clock starts: writing them isn't part of the migration.
    let copies = try RestingCopies(of: Array(repeating: original, count: ways.count), in: folder)
    copies.wait()
    return copies.paths
  }
}
