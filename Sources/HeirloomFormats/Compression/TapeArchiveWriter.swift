/// A writer of a compressed tape archive (`.tar.gz`), one file at a time.
///
/// The format is that of POSIX.1-1988 (ustar); a name of more than 100 bytes has an entry of its own before its file,
/// as in GNU tar. Each MiB of content is compressed as a member of one gzip file (RFC 1952, section 2.2), so at most
/// one MiB is in memory.
package struct TapeArchiveWriter {
  private let time: Int64
  private let sink: ([UInt8]) throws -> Void
  private var pending: [UInt8] = []
  private var left: Int64 = 0
  private var padding = 0

  private static let blockSize = 512
  private static let memberSize = 1 << 20

  /// The time is the modification time of all files, in seconds since 1970-01-01 UTC.
  package init(time: Int64, sink: @escaping ([UInt8]) throws -> Void) {
    self.time = max(0, time)
    self.sink = sink
  }

  /// The name is the path in the archive, with slashes but not at the start.
  package mutating func add(_ name: String, _ bytes: [UInt8]) throws {
    try begin(name, byteCount: Int64(bytes.count))
    try append(bytes)
    try end()
  }

  package mutating func begin(_ name: String, byteCount: Int64) throws {
    let bytes = Array(name.utf8)
    if bytes.count > 100 {
      try write(Self.header(name: Array("././@LongLink".utf8), byteCount: Int64(bytes.count + 1), time: 0, type: "L"))
      try write(bytes + [UInt8](repeating: 0, count: 1 + Self.padding(after: Int64(bytes.count + 1))))
    }
    try write(Self.header(name: Array(bytes.prefix(100)), byteCount: max(0, byteCount), time: time, type: "0"))
    left = max(0, byteCount)
    padding = Self.padding(after: left)
  }

  /// Bytes beyond the announced length are dropped.
  package mutating func append(_ bytes: [UInt8]) throws {
    let part = Int64(bytes.count) <= left ? bytes[...] : bytes.prefix(Int(clamping: left))
    left -= Int64(part.count)
    try write(part)
  }

  /// Missing content is filled with zeros.
  package mutating func end() throws {
    while left > 0 { try append([UInt8](repeating: 0, count: Int(clamping: min(left, Int64(Self.memberSize))))) }
    try write([UInt8](repeating: 0, count: padding))
    padding = 0
  }

  package mutating func finish() throws {
    try write([UInt8](repeating: 0, count: 2 * Self.blockSize))
    try flush()
  }

  private mutating func write(_ bytes: some Collection<UInt8>) throws {
    pending += bytes
    if pending.count >= Self.memberSize { try flush() }
  }

  private mutating func flush() throws {
    guard !pending.isEmpty else { return }
    try sink(try Compression.gzip(pending))
    pending.removeAll(keepingCapacity: true)
  }

  private static func padding(after byteCount: Int64) -> Int {
    Int(clamping: (Int64(blockSize) - byteCount % Int64(blockSize)) % Int64(blockSize))
  }

  /// The layout is in https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html.
  private static func header(name: [UInt8], byteCount: Int64, time: Int64, type: Unicode.Scalar) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: blockSize)
    func put(_ bytes: [UInt8], at offset: Int) { block.replaceSubrange(offset..<(offset + bytes.count), with: bytes) }
    put(name, at: 0)
    put(octal(0o600, digits: 7), at: 100)
    put(octal(0, digits: 7), at: 108)
    put(octal(0, digits: 7), at: 116)
    put(number(byteCount), at: 124)
    put(number(time), at: 136)
    put([UInt8](repeating: 0x20, count: 8), at: 148)
    put([UInt8(ascii: type)], at: 156)
    put(Array("ustar".utf8) + [0] + Array("00".utf8), at: 257)
    let sum = block.reduce(Int64(0)) { $0 + Int64($1) }
    put(octal(sum, digits: 6) + [0, 0x20], at: 148)
    return block
  }

  /// A field of 12 bytes: octal digits, or from 8 GiB on the bytes themselves, as in GNU tar.
  private static func number(_ value: Int64) -> [UInt8] {
    if value < 1 << 33 { return octal(value, digits: 11) }
    return [0x80, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
  }

  private static func octal(_ value: Int64, digits: Int) -> [UInt8] {
    let text = String(value, radix: 8)
    return Array((String(repeating: "0", count: max(0, digits - text.count)) + text).utf8.suffix(digits))
  }
}
