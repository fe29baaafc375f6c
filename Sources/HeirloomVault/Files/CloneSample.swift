/// The sample of a clone that is compared with its original where the volume doesn't tell which blocks they share.
package enum CloneSample {
  /// The bytes that are compared at once: a multiple of the size of any page of SQLite's.
  private static let sampled = 1 << 16

  /// Returns what is left beside the sample, which is one part in a hundred, spread over the file.
  ///
  /// - Parameter byteCount: The size of the clone.
  /// - Returns: Ranges in bytes, rising; none for a small file, which is compared whole.
  package static func left(ofByteCount byteCount: Int64) -> [Range<Int64>] {
    let first = Int64(sampled)
    return stride(from: first, to: max(first, byteCount), by: 100 * sampled).map { start in
      start..<min(start + 99 * first, byteCount)
    }
  }
}
