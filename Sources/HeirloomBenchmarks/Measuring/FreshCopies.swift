import Heirloom

/// Copies of a store for the runs of a round, as many at a time as there is room for.
struct FreshCopies {
  /// The ways that get a copy, in the order of their runs.
  let ways: [MigrationBenchmark.Way]
  /// The store that is copied.
  private let original: String
  /// Its size in bytes.
  private let size: Int64

  /// The most bytes of copies that wait at once: they must not push the measured files out of the memory.
  private static let waitingBytes: Int64 = 1 << 30

  /// Returns the copies for a round, in batches as large as there is room for, so that a whole batch rests at once.
  ///
  /// - Parameters:
  ///   - original: The store, with nothing in its `-wal`.
  ///   - size: Its size in bytes.
  ///   - ways: The ways of the round, in order.
  /// - Returns: The batches, to be made and used one after another.
  static func batches(
    of original: String, size: Int64, for ways: [MigrationBenchmark.Way]
  ) -> [FreshCopies] {
    let count = min(ways.count, max(1, Int(waitingBytes / max(1, size))))
    return stride(from: 0, to: ways.count, by: max(1, count)).map { start in
      FreshCopies(ways: Array(ways[start..<min(start + count, ways.count)]), original: original, size: size)
    }
  }

  /// Makes the copies and waits until they are at rest.
  ///
  /// - Parameter folder: An empty folder, which gets a copy for each way.
  /// - Returns: The stores, in the order of ``ways``.
  /// - Throws: `FileError`.
  func make(in folder: String) throws(FileError) -> [String] {
    // There is memory for the copies, and for a clone and an index beside them.
    TouchedMemory.prepare(byteCount: size * Int64(ways.count + 2))
    // They are on the disk before the clock starts: writing them is not part of the migration.
    let copies = try RestingCopies(of: Array(repeating: original, count: ways.count), in: folder)
    copies.wait()
    return copies.paths
  }
}
