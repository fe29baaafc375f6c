/// The sample of a clone that is compared with its original where the volume doesn't report shared blocks.
package enum CloneSample {
  /// In bytes: a multiple of every SQLite page size.
  private static let sampled = 1 << 16

  /// Outside the sample of one part in a hundred, ascending; empty for a small file, which is
  /// compared whole.
  package static func left(ofByteCount byteCount: Int64) -> [Range<Int64>] {
    let first = Int64(sampled)
    return stride(from: first, to: max(first, byteCount), by: 100 * sampled).map { start in
      start..<min(start + 99 * first, byteCount)
    }
  }
}
