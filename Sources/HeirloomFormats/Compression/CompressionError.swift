/// A failure to compress or decompress bytes.
package enum CompressionError: Error, Hashable, Sendable {
  /// Input that doesn't start like a gzip file.
  case notGzip
  /// Input that ends before the compressed stream ends.
  case truncated(byteCount: Int)
  /// A stream that is inconsistent or doesn't match its checksum.
  case damaged(offset: Int)
  /// Bytes after the end of the file's only member.
  case trailingBytes(offset: Int)
  /// Output that would exceed the limit.
  case tooExpansive(limit: Int)
  /// Input that exceeds the limit.
  case tooMuchInput(byteCount: Int, limit: Int)
  /// Too little memory for the compressor's tables.
  case outOfMemory
}

extension CompressionError: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
  package var description: String {
    switch self {
    case .notGzip:
      "The data is not a gzip file: it doesn't start with the bytes 1f 8b."
    case .truncated(let byteCount):
      "The compressed data ends too early, after \(byteCount) bytes."
    case .damaged(let offset):
      "The compressed data is damaged at or before byte \(offset)."
    case .trailingBytes(let offset):
      "Unexpected data follows the end of the compressed data at byte \(offset)."
    case .tooExpansive(let limit):
      "The compressed data expands to more than the \(limit) bytes that its size justifies."
    case .tooMuchInput(let byteCount, let limit):
      "The data has \(byteCount) bytes; at most \(limit) are accepted."
    case .outOfMemory:
      "There is not enough memory to compress or decompress data."
    }
  }
}
