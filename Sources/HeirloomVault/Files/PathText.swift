/// A byte outside valid UTF-8 becomes the scalar U+10FF00 plus the byte, and so does each byte of
/// such a scalar in a name: different names map to different strings.
package enum PathText {
  static func text(of bytes: some Collection<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    if text.utf8.elementsEqual(bytes), !hasEscape(text) { return text }
    var output: [UInt8] = []
    var rest = Array(bytes)[...]
    while let byte = rest.first {
      let length = scalarLength(at: rest)
      if length == 0 || isEscape(rest.prefix(length)) {
        // Only bytes of 0x80 and above reach this line: lower ones are valid UTF-8 by themselves.
        output += [0xF4, 0x8F, 0xBC + byte >> 6, 0x80 + byte & 0x3F]
        rest = rest.dropFirst()
      } else {
        output += rest.prefix(length)
        rest = rest.dropFirst(length)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  static func bytes(of text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard hasEscape(text) else { return bytes }
    var output: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.first {
      if isEscape(rest.prefix(4)) {
        let (high, low) = (rest[rest.startIndex + 2], rest[rest.startIndex + 3])
        output.append((high - 0xBC) << 6 | low & 0x3F)
        rest = rest.dropFirst(4)
      } else {
        output.append(byte)
        rest = rest.dropFirst()
      }
    }
    return output
  }

  static func hasEscape(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      // Hardly any path has a scalar in this range.
      guard bytes.contains(0xF4) else { return false }
      return bytes.indices.contains { isEscape(UnsafeBufferPointer(rebasing: bytes[$0...]).prefix(4)) }
    }
  }

  /// A scalar of U+10FF80 to U+10FFFF.
  private static func isEscape(_ bytes: some Collection<UInt8>) -> Bool {
    guard bytes.count == 4 else { return false }
    let bytes = Array(bytes)
    return bytes[0] == 0xF4 && bytes[1] == 0x8F && bytes[2] >= 0xBE && bytes[2] <= 0xBF && bytes[3] & 0xC0 == 0x80
  }

  /// 0 if no scalar begins here.
  private static func scalarLength(at bytes: ArraySlice<UInt8>) -> Int {
    for length in 1...4 where length <= bytes.count {
      let head = bytes.prefix(length)
      let text = String(decoding: head, as: UTF8.self)
      if text.utf8.elementsEqual(head), text.unicodeScalars.count == 1 { return length }
    }
    return 0
  }

  package static func isFileName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  package static func join(_ folder: String, _ name: String) -> String {
    folder == "/" ? "/" + name : folder + "/" + name
  }

  package static func split(_ path: String) -> (folder: String, name: String) {
    // By bytes: a scalar after the slash may form one character with it.
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.utf8.index(after: slash)...]))
  }
}
