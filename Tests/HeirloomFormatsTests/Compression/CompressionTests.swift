import Foundation
import HeirloomFormats
import Testing

struct CompressionTests {
  @Test(arguments: [0, 1, 6, 65_535, 65_536, 65_537, 300_000])
  func `gives back what was compressed`(_ count: Int) throws {
    let input = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
    let isEqual = try Compression.inflate(Compression.deflate(input)) == input
    #expect(isEqual)
    let isEqualInGzip = try Compression.gunzip(Compression.gzip(input)) == input
    #expect(isEqualInGzip)
  }

  @Test func `a gzip file depends on its content alone`() throws {
    let file = try Compression.gzip(Array("model".utf8))
    #expect(Array(file[..<8]) == [0x1f, 0x8b, 8, 0, 0, 0, 0, 0], "no name and no time")
    #expect(file[9] == 255, "no operating system")
    #expect(try Compression.gzip(Array("model".utf8)) == file)
  }

  @Test func `reads a file that the gzip tool wrote`() throws {
    // printf heirloom | gzip -nc | base64
    let data = try #require(Data(base64Encoded: "H4sIAAAAAAAAA8tIzSzKyc/PBQAzRFbwCAAAAA=="))
    #expect(try Compression.gunzip(Array(data)) == Array("heirloom".utf8))
  }

  @Test func `refuses to expand beyond the limit`() throws {
    let bomb = try Compression.gzip(Array(repeating: 0, count: 10_000_000))
    #expect(
      throws: FormatError(
        "The compressed data expands to more than the \(bomb.count * 200) bytes that its size justifies.")
    ) { try Compression.gunzip(bomb) }
    let limit = Compression.Limit(byteCount: 100, ratio: 1_000_000, floor: 1_000_000)
    #expect(throws: FormatError("The compressed data expands to more than the 100 bytes that its size justifies.")) {
      try Compression.gunzip(bomb, limit: limit)
    }
    let tiny = try Compression.deflate(Array(repeating: 0, count: 60_000))
    #expect(try Compression.inflate(tiny).count == 60_000, "a tiny input may expand more than its size allows")
  }

  @Test(arguments: [0, 70_000, 10_000_000])
  func `what repeats itself beyond a reader's limit is put in so that it is read`(count: Int) throws {
    let bytes = [UInt8](repeating: 97, count: count)
    #expect(try Compression.gunzip(Compression.gzip(bytes, for: .standard)) == bytes)
    #expect(try Compression.inflate(Compression.deflate(bytes, for: .standard)) == bytes)
  }

  @Test func `refuses each truncation`() throws {
    let file = try Compression.gzip(Array("a model that is truncated".utf8))
    for length in 2..<file.count {
      #expect(throws: FormatError(.byte(length), "The compressed data ends too early, after \(length) bytes.")) {
        try Compression.gunzip(Array(file[..<length]))
      }
    }
    let stream = try Compression.deflate(Array("a model that is truncated".utf8))
    for length in 0..<stream.count {
      #expect(throws: FormatError(.byte(length), "The compressed data ends too early, after \(length) bytes.")) {
        try Compression.inflate(Array(stream[..<length]))
      }
    }
  }

  @Test func `refuses damage and what is no gzip file`() throws {
    let input = Array("a model that is damaged".utf8)
    let file = try Compression.gzip(input)
    var refused = 0
    for position in file.indices {
      var bytes = file
      bytes[position] ^= 0x10
      // The header's time and the padding before the checksum hold no content.
      guard let output = try? Compression.gunzip(bytes) else {
        refused += 1
        continue
      }
      #expect(output == input)
    }
    #expect(refused > file.count - 12)
    #expect(
      throws: FormatError(
        .byte(file.count), "Unexpected data follows the end of the compressed data at byte \(file.count).")
    ) { try Compression.gunzip(file + [0]) }
    #expect(
      throws: FormatError(
        .byte(file.count), "Unexpected data follows the end of the compressed data at byte \(file.count).")
    ) { try Compression.gunzip(file + file) }
    #expect(throws: FormatError("The data is not a gzip file: it doesn\'t start with the bytes 1f 8b.")) {
      try Compression.gunzip(Array("{}".utf8))
    }
    #expect(throws: FormatError("The data is not a gzip file: it doesn\'t start with the bytes 1f 8b.")) {
      try Compression.gunzip([])
    }
    #expect(throws: FormatError(.byte(1), "The compressed data is damaged at or before byte 1.")) {
      try Compression.inflate([0xff, 0xff])
    }
  }
}
