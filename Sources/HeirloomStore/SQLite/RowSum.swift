/// In any order; numbers count as floating-point, because columns may return them as either kind.
package struct RowSum: Hashable, Sendable {
  package private(set) var value: UInt64 = 0

  package init() {}

  init(value: UInt64) {
    self.value = value
  }

  mutating func add(_ row: RowDigest) { value &+= row.finished }
}

struct RowDigest {
  private(set) var state: UInt64

  init(state: UInt64) {
    self.state = state
  }

  init(key: Int64) {
    state = 0x243f_6a88_85a3_08d3
    mix(UInt64(bitPattern: key))
  }

  mutating func takeNull() { mix(0xa409_3822_299f_31d0) }

  mutating func take(_ number: Double) {
    // Zero has two signs, and SQLite keeps only one.
    mix((number + 0).bitPattern)
  }

  mutating func take(_ bytes: UnsafeRawBufferPointer, isText: Bool) {
    var place = 0
    while place + 8 <= bytes.count {
      mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    mix(rest)
    // With the lengths, bytes that move from one value to the next change the digest.
    mix(UInt64(truncatingIfNeeded: bytes.count) << 1 | (isText ? 1 : 0))
  }

  private mutating func mix(_ word: UInt64) {
    let product = (state ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    state = product.high ^ product.low &+ 0xd1b5_4a32_d192_ed03
  }

  var finished: UInt64 {
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }
}
