/// The output depends on the values alone.
///
/// Members are written in the given order, so the caller must sort them. Both layouts have the same
/// tokens; the indented one has one value per line, for readable differences.
///
/// Each launch compares the app's whole model with the snapshot, so writing must be fast.
package struct CanonicalJSONWriter {
  /// The first `count` bytes are written; the rest is unused capacity.
  private var storage: [UInt8] = []
  private var count = 0
  private let isIndented: Bool
  /// The number of open lists and objects.
  private var level: Int
  /// True if the innermost of them has an element; the outer ones always have.
  private var isFilled = false
  /// The maximum number of lists and objects that were open at once.
  package private(set) var depth: Int
  private var isAfterKey: Bool

  package var bytes: [UInt8] { Array(storage[..<count]) }

  /// `depth` is the number of levels around the output, for the indentation.
  package init(isIndented: Bool, depth: Int = 0) {
    self.isIndented = isIndented
    self.depth = depth
    level = depth
    // A nested value follows its key.
    isAfterKey = depth > 0
  }

  package mutating func reserveCapacity(_ byteCount: Int) {
    makeRoom(byteCount)
  }

  package mutating func beginObject() {
    beginValue()
    begin(UInt8(ascii: "{"))
  }

  package mutating func endObject() {
    end(UInt8(ascii: "}"))
  }

  package mutating func beginArray() {
    beginValue()
    begin(UInt8(ascii: "["))
  }

  package mutating func endArray() {
    end(UInt8(ascii: "]"))
  }

  package mutating func key(_ name: String) {
    beginValue()
    appendString(name)
    append(UInt8(ascii: ":"))
    if isIndented { append(UInt8(ascii: " ")) }
    isAfterKey = true
  }

  package mutating func string(_ text: String) {
    beginValue()
    appendString(text)
  }

  package mutating func boolean(_ value: Bool) {
    beginValue()
    append(value ? "true" : "false")
  }

  package mutating func integer(_ number: Int64) {
    beginValue()
    append(String(number))
  }

  /// Infinities and NaN, which JSON lacks, are written as text.
  package mutating func double(_ number: Double) {
    guard number.isFinite else { return string("\(number)") }
    beginValue()
    append("\(number)")
  }

  package mutating func null() {
    beginValue()
    append("null")
  }

  /// The value must be in the same layout, at the same depth.
  package mutating func raw(_ value: [UInt8]) {
    beginValue()
    value.withUnsafeBufferPointer { append($0) }
  }

  private mutating func beginValue() {
    if isAfterKey {
      isAfterKey = false
      return
    }
    guard level > 0 else { return }
    if isFilled { append(UInt8(ascii: ",")) }
    isFilled = true
    if isIndented { newLine() }
  }

  private mutating func begin(_ character: UInt8) {
    append(character)
    level += 1
    depth = max(depth, level)
    isFilled = false
  }

  private mutating func end(_ character: UInt8) {
    level -= 1
    if isFilled, isIndented { newLine() }
    append(character)
    isFilled = true
  }

  private mutating func newLine() {
    append(UInt8(ascii: "\n"))
    for _ in 0..<2 * level { append(UInt8(ascii: " ")) }
  }

  // MARK: Bytes

  @inline(__always)
  private mutating func makeRoom(_ byteCount: Int) {
    if storage.count - count < byteCount { grow(by: byteCount) }
  }

  @inline(never)
  private mutating func grow(by byteCount: Int) {
    var larger = [UInt8](repeating: 0, count: max(2 * storage.count, count + byteCount, 256))
    larger.withUnsafeMutableBytes { room in
      storage.withUnsafeBytes { room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    storage = larger
  }

  private mutating func append(_ byte: UInt8) {
    makeRoom(1)
    storage[count] = byte
    count += 1
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  private mutating func append(_ content: UnsafeBufferPointer<UInt8>) {
    makeRoom(content.count)
    storage.withUnsafeMutableBytes { room in
      UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: UnsafeRawBufferPointer(content))
    }
    count += content.count
  }

  private mutating func appendString(_ text: String) {
    var text = text
    text.withUTF8 { content in
      // Nearly all text needs no escape.
      guard Self.needsEscape(content) else { return appendQuoted(content) }
      append(UInt8(ascii: "\""))
      var start = 0
      for (index, byte) in content.enumerated() where Self.needsEscape(byte) {
        append(UnsafeBufferPointer(rebasing: content[start..<index]))
        appendEscape(byte)
        start = index + 1
      }
      append(UnsafeBufferPointer(rebasing: content[start...]))
      append(UInt8(ascii: "\""))
    }
  }

  private mutating func appendQuoted(_ content: UnsafeBufferPointer<UInt8>) {
    let end = count + 1 + content.count
    makeRoom(content.count + 2)
    storage.withUnsafeMutableBytes { room in
      room[count] = UInt8(ascii: "\"")
      UnsafeMutableRawBufferPointer(rebasing: room[(count + 1)...]).copyMemory(from: UnsafeRawBufferPointer(content))
      room[end] = UInt8(ascii: "\"")
    }
    count = end + 1
  }

  private static func needsEscape(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5C }

  private static func needsEscape(_ content: UnsafeBufferPointer<UInt8>) -> Bool {
    let bytes = UnsafeRawBufferPointer(content)
    var place = 0
    while place + 8 <= bytes.count {
      if needsEscape(eight: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) { return true }
      place += 8
    }
    while place < bytes.count {
      if needsEscape(bytes[place]) { return true }
      place += 1
    }
    return false
  }

  /// Subtraction borrows into the top bit of a smaller byte; one whose top bit was set wasn't
  /// smaller.
  private static func needsEscape(eight word: UInt64) -> Bool {
    let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    let (quotes, backslashes) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
    let found = (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
    return found & tops != 0
  }

  private mutating func appendEscape(_ byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case 0x22, 0x5C: append(byte)
    case 0x08: append(UInt8(ascii: "b"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0x0A: append(UInt8(ascii: "n"))
    case 0x0C: append(UInt8(ascii: "f"))
    case 0x0D: append(UInt8(ascii: "r"))
    default:
      let digits = String(byte, radix: 16)
      append("u" + String(repeating: "0", count: 4 - digits.count) + digits)
    }
  }
}
