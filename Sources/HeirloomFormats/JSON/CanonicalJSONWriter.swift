/// A writer of JSON whose output depends on the values alone.
///
/// Members are written in the order in which they are given: the caller gives them sorted. The two layouts hold the
/// same tokens; the indented one has one value a line, for readable differences.
package struct CanonicalJSONWriter {
  /// What has been written.
  package private(set) var bytes: [UInt8] = []
  private let isIndented: Bool
  /// For each open list or object whether something stands in it.
  private var levels: [Bool] = []
  /// The most levels that were ever open.
  package private(set) var depth = 0
  /// Whether a key was written whose value is to follow.
  private var isAfterKey = false

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - isIndented: Whether each value has a line of its own.
  ///   - depth: The number of levels around what is written, for the indentation.
  package init(isIndented: Bool, depth: Int = 0) {
    self.isIndented = isIndented
    levels = Array(repeating: false, count: depth)
    self.depth = depth
    // A value inside something follows its key.
    isAfterKey = depth > 0
  }

  /// Makes room for what will be written.
  ///
  /// - Parameter byteCount: About how many bytes.
  package mutating func reserveCapacity(_ byteCount: Int) {
    bytes.reserveCapacity(byteCount)
  }

  /// Opens an object.
  package mutating func beginObject() {
    beginValue()
    begin(UInt8(ascii: "{"))
  }

  /// Closes an object.
  package mutating func endObject() {
    end(UInt8(ascii: "}"))
  }

  /// Opens a list.
  package mutating func beginArray() {
    beginValue()
    begin(UInt8(ascii: "["))
  }

  /// Closes a list.
  package mutating func endArray() {
    end(UInt8(ascii: "]"))
  }

  /// Writes a key; its value follows.
  package mutating func key(_ name: String) {
    beginValue()
    appendString(name)
    bytes.append(UInt8(ascii: ":"))
    if isIndented { bytes.append(UInt8(ascii: " ")) }
    isAfterKey = true
  }

  /// Writes text.
  package mutating func string(_ text: String) {
    beginValue()
    appendString(text)
  }

  /// Writes a truth value.
  package mutating func boolean(_ value: Bool) {
    beginValue()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Writes a whole number.
  package mutating func integer(_ number: Int64) {
    beginValue()
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Writes a number by its shortest text; one that JSON has no number for is written as text.
  package mutating func double(_ number: Double) {
    guard number.isFinite else { return string("\(number)") }
    beginValue()
    bytes.append(contentsOf: "\(number)".utf8)
  }

  /// Writes nothing as a value.
  package mutating func null() {
    beginValue()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes a value that was written before in the same layout, at the same depth.
  package mutating func raw(_ value: [UInt8]) {
    beginValue()
    bytes.append(contentsOf: value)
  }

  private mutating func beginValue() {
    if isAfterKey {
      isAfterKey = false
      return
    }
    guard let isFilled = levels.last else { return }
    if isFilled { bytes.append(UInt8(ascii: ",")) }
    levels[levels.count - 1] = true
    newLine()
  }

  private mutating func begin(_ character: UInt8) {
    bytes.append(character)
    levels.append(false)
    depth = max(depth, levels.count)
  }

  private mutating func end(_ character: UInt8) {
    if levels.removeLast() { newLine() }
    bytes.append(character)
  }

  private mutating func newLine() {
    guard isIndented else { return }
    bytes.append(UInt8(ascii: "\n"))
    for _ in levels { bytes.append(contentsOf: [0x20, 0x20]) }
  }

  private mutating func appendString(_ text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { content in
      // Nearly all text is written as it is.
      guard content.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) else {
        return bytes.append(contentsOf: content)
      }
      var start = 0
      for (index, byte) in content.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
        bytes.append(contentsOf: content[start..<index])
        appendEscape(byte)
        start = index + 1
      }
      bytes.append(contentsOf: content[start...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func appendEscape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x22, 0x5C: bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    default:
      let digits = String(byte, radix: 16)
      bytes.append(contentsOf: ("u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
    }
  }
}
