/// The kind of a file, determined by its first bytes.
enum FileSignature {
  case binaryPropertyList
  case xml
  case gzip
  case json
  case other(ModelReadingError.Content)

  init(_ bytes: [UInt8]) {
    let start = bytes.prefix(4096)
    // Text may begin with a byte order mark and whitespace.
    let text = (start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start).drop {
      [0x20, 0x09, 0x0A, 0x0D].contains($0)
    }
    if bytes.isEmpty {
      self = .other(.emptyFile)
    } else if BinaryPropertyListReader.recognizes(start) {
      self = .binaryPropertyList
    } else if Compression.isGzip(start) {
      self = .gzip
    } else if start.starts(with: "SQLite format 3\0".utf8) {
      self = .other(.sqliteStore)
    } else if start.starts(with: "momv2$".utf8) {
      self = .other(.optimizedModel)
    } else if text.first == UInt8(ascii: "<") {
      self = .xml
    } else if text.first == UInt8(ascii: "{") {
      self = .json
    } else {
      // The last of these bytes may be part of a multi-byte character.
      let isText = text.allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0D].contains($0) }
      self = .other(isText ? .text : .unknownData)
    }
  }
}
