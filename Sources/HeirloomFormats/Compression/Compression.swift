import CHeirloomZlib

package enum Compression {
  /// The limit on a decompression's output.
  package struct Limit: Hashable, Sendable {
    /// Whatever the input.
    package var byteCount: Int
    /// Bytes per byte of input.
    package var ratio: Int
    /// Always allowed, so that a tiny, highly compressed input is not rejected.
    package var floor: Int

    package static let standard: Limit = Limit(byteCount: 64 << 20, ratio: 200, floor: 64 << 10)

    package init(byteCount: Int, ratio: Int, floor: Int) {
      self.byteCount = byteCount
      self.ratio = ratio
      self.floor = floor
    }

    func outputLimit(inputSize: Int) -> Int {
      let (product, overflow) = inputSize.multipliedReportingOverflow(by: ratio)
      return min(byteCount, max(floor, overflow ? byteCount : product))
    }
  }

  /// zlib's window sizes for the container: negative for none, 16 added for gzip.
  private enum Container {
    static let raw: Int32 = -15
    static let gzip: Int32 = 31
  }

  /// The stream has no container, as in a store's model cache; bytes after its end are ignored.
  package static func inflate(
    _ bytes: [UInt8], limit: Limit = .standard
  ) throws(FormatError) -> [UInt8] {
    try decompress(bytes, windowBits: Container.raw, limit: limit)
  }

  /// Throws ``FormatError`` if anything follows the first member; checksum and length are verified.
  package static func gunzip(
    _ bytes: [UInt8], limit: Limit = .standard
  ) throws(FormatError) -> [UInt8] {
    guard isGzip(bytes) else {
      throw FormatError("The data is not a gzip file: it doesn't start with the bytes 1f 8b.")
    }
    return try decompress(bytes, windowBits: Container.gzip, limit: limit)
  }

  /// Makes a stream without a container, from up to 1 GiB.
  ///
  /// Content that would exceed the reader's limit is stored uncompressed.
  package static func deflate(_ bytes: [UInt8], for limit: Limit? = nil) throws(FormatError) -> [UInt8] {
    try compress(bytes, windowBits: Container.raw, limit: limit)
  }

  /// Writes neither name nor time, so that equal input gives equal files; takes up to 1 GiB.
  ///
  /// Content that would exceed the reader's limit is stored uncompressed.
  package static func gzip(_ bytes: [UInt8], for limit: Limit? = nil) throws(FormatError) -> [UInt8] {
    var result = try compress(bytes, windowBits: Container.gzip, limit: limit)
    // The tenth byte is the operating system; 255, "unknown", makes files equal on all systems.
    if result.count > 9 { result[9] = 255 }
    return result
  }

  /// The bits of a gzip header's fourth byte for the parts after its ten bytes (RFC 1952, section 2.3.1).
  private enum HeaderFlag {
    static let headerChecksum: UInt8 = 0x02
    static let extra: UInt8 = 0x04
    static let name: UInt8 = 0x08
    static let comment: UInt8 = 0x10
  }

  /// The file must come from `gzip(_:for:)`, and the comment be ASCII without zero bytes.
  ///
  /// The header gets a checksum, so that a reader detects a damaged comment.
  static func commented(_ comment: String, _ file: [UInt8]) -> [UInt8] {
    var header = Array(file.prefix(10))
    guard header.count == 10 else { return file }
    header[3] = HeaderFlag.comment | HeaderFlag.headerChecksum
    header += Array(comment.utf8) + [0]
    let checksum = crc32(0, header, uInt(header.count))
    return header + [UInt8(checksum & 0xff), UInt8(checksum >> 8 & 0xff)] + file.dropFirst(10)
  }

  static func comment(ofGzip file: [UInt8]) -> String? {
    guard isGzip(file), file.count > 10, file[3] & HeaderFlag.comment != 0 else { return nil }
    var rest = file[10...]
    if file[3] & HeaderFlag.extra != 0 {
      guard rest.count > 2 else { return nil }
      rest = rest.dropFirst(2 + Int(rest[rest.startIndex]) + Int(rest[rest.startIndex + 1]) << 8)
    }
    if file[3] & HeaderFlag.name != 0 { rest = rest.drop { $0 != 0 }.dropFirst() }
    return String(decoding: rest.prefix { $0 != 0 }, as: UTF8.self)
  }

  package static func isGzip(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: [0x1f, 0x8b])
  }

  private static let chunkSize = 64 << 10
  private static let inputLimit = 1 << 30
  private static let outOfMemory = FormatError("There is not enough memory to compress or decompress data.")

  /// The stream's address must not change: zlib keeps a pointer to it.
  private static func withStream<Value>(
    _ body: (UnsafeMutablePointer<z_stream>) throws(FormatError) -> Value
  ) throws(FormatError) -> Value {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer {
      stream.deinitialize(count: 1)
      stream.deallocate()
    }
    return try body(stream)
  }

  private static func decompress(
    _ bytes: [UInt8], windowBits: Int32, limit: Limit
  ) throws(FormatError) -> [UInt8] {
    let outputLimit = limit.outputLimit(inputSize: bytes.count)
    return try withStream { stream throws(FormatError) in
      guard heirloom_inflate_init(stream, windowBits) == Z_OK else { throw outOfMemory }
      defer { inflateEnd(stream) }
      var output: [UInt8] = []
      if windowBits == Container.gzip { output.reserveCapacity(min(expectedSize(ofGzip: bytes), outputLimit)) }
      let rest = try run(stream, input: bytes, output: &output, limit: outputLimit) {
        CHeirloomZlib.inflate($0, Z_NO_FLUSH)
      }
      guard rest == 0 || windowBits == Container.raw else {
        let end = bytes.count - rest
        throw FormatError(.byte(end), "Unexpected data follows the end of the compressed data at byte \(end).")
      }
      return output
    }
  }

  /// From the last four bytes, which aren't trustworthy.
  private static func expectedSize(ofGzip bytes: [UInt8]) -> Int {
    Int(clamping: bytes.suffix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
  }

  private static func compress(
    _ bytes: [UInt8], windowBits: Int32, limit: Limit?
  ) throws(FormatError) -> [UInt8] {
    let result = try compress(bytes, windowBits: windowBits, level: Z_DEFAULT_COMPRESSION)
    guard let limit, bytes.count > limit.outputLimit(inputSize: result.count) else { return result }
    return try compress(bytes, windowBits: windowBits, level: Z_NO_COMPRESSION)
  }

  private static func compress(
    _ bytes: [UInt8], windowBits: Int32, level: Int32
  ) throws(FormatError) -> [UInt8] {
    try withStream { stream throws(FormatError) in
      guard heirloom_deflate_init(stream, level, windowBits) == Z_OK else { throw outOfMemory }
      defer { deflateEnd(stream) }
      var output: [UInt8] = []
      _ = try run(stream, input: bytes, output: &output, limit: .max) { CHeirloomZlib.deflate($0, Z_FINISH) }
      return output
    }
  }

  /// Returns the number of unused input bytes.
  private static func run(
    _ stream: UnsafeMutablePointer<z_stream>, input: [UInt8], output: inout [UInt8], limit: Int,
    step: (UnsafeMutablePointer<z_stream>) -> Int32
  ) throws(FormatError) -> Int {
    guard input.count <= inputLimit else {
      throw FormatError("The data has \(input.count) bytes; at most \(inputLimit) are accepted.")
    }
    // zlib's declaration requires mutable input, but zlib doesn't write to it.
    var input = input
    let chunk = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: chunkSize)
    defer { chunk.deallocate() }
    var collected = output
    output = []
    defer { output = collected }
    return try input.withUnsafeMutableBufferPointer { buffer throws(FormatError) in
      // An empty array may have no address, which zlib would reject.
      stream.pointee.next_in = buffer.baseAddress ?? chunk.baseAddress
      stream.pointee.avail_in = uInt(buffer.count)
      while true {
        stream.pointee.next_out = chunk.baseAddress
        stream.pointee.avail_out = uInt(chunk.count)
        let status = step(stream)
        let produced = chunk.count - Int(clamping: stream.pointee.avail_out)
        guard produced <= limit - collected.count else {
          throw FormatError(
            "The compressed data expands to more than the \(limit) bytes that its size justifies.")
        }
        collected.append(contentsOf: chunk[..<produced])
        let consumed = buffer.count - Int(clamping: stream.pointee.avail_in)
        switch status {
        case Z_STREAM_END: return Int(clamping: stream.pointee.avail_in)
        case Z_OK where produced > 0 || stream.pointee.avail_in > 0: continue
        case Z_OK, Z_BUF_ERROR:
          throw FormatError(
            .byte(buffer.count), "The compressed data ends too early, after \(buffer.count) bytes.")
        case Z_MEM_ERROR: throw outOfMemory
        default: throw FormatError(.byte(consumed), "The compressed data is damaged at or before byte \(consumed).")
        }
      }
    }
  }
}
