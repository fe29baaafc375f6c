/// Source: FIPS 180-4.
///
/// Foundation on Linux has no digests, and this module has no dependencies.
package struct SHA256: Sendable {
  package static let byteCount = 32

  // A vector instead of an array: a model has thousands of short digests, and allocating arrays would dominate the
  // time.
  private var state = SIMD8<UInt32>(
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
  private var pending: [UInt8] = []
  private var byteTotal: UInt64 = 0

  package init() {
    pending.reserveCapacity(2 * Self.blockLength)
  }

  package mutating func update(_ bytes: some Sequence<UInt8>) {
    let count = pending.count
    pending.append(contentsOf: bytes)
    byteTotal &+= UInt64(pending.count - count)
    if pending.count >= Self.blockLength { compressPending() }
  }

  package mutating func update(_ text: String) {
    update(text.utf8)
  }

  /// At most 64 bits.
  package mutating func update(littleEndian value: some FixedWidthInteger) {
    var rest = UInt64(truncatingIfNeeded: value)
    for _ in 0..<value.bitWidth / 8 {
      pending.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
      byteTotal &+= 1
    }
    if pending.count >= Self.blockLength { compressPending() }
  }

  package consuming func finalize() -> [UInt8] {
    let bitTotal = byteTotal &* 8
    pending.append(0x80)
    // Zeros pad the last block up to its length field.
    let zeros = (2 * Self.blockLength - 8 - pending.count) % Self.blockLength
    // Plain loops here and below: sequences are slow in unoptimised code, which the tests run.
    pending += [UInt8](repeating: 0, count: zeros)
    var shift: UInt64 = 64
    while shift > 0 {
      shift &-= 8
      pending.append(UInt8(truncatingIfNeeded: bitTotal &>> shift))
    }
    compressPending()
    var digest: [UInt8] = []
    digest.reserveCapacity(Self.byteCount)
    var index = 0
    while index < 8 {
      let word = state[index]
      digest.append(UInt8(truncatingIfNeeded: word &>> 24))
      digest.append(UInt8(truncatingIfNeeded: word &>> 16))
      digest.append(UInt8(truncatingIfNeeded: word &>> 8))
      digest.append(UInt8(truncatingIfNeeded: word))
      index &+= 1
    }
    return digest
  }

  package static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var digest = SHA256()
    digest.update(bytes)
    return digest.finalize()
  }

  private static let blockLength = 64

  private mutating func compressPending() {
    var start = 0
    while pending.count - start >= Self.blockLength {
      compress(at: start)
      start += Self.blockLength
    }
    if start == pending.count {
      pending.removeAll(keepingCapacity: true)
    } else {
      pending.removeFirst(start)
    }
  }

  private mutating func compress(at start: Int) {
    // An array of the right length; every element is overwritten.
    var schedule = Self.constants
    var index = 0
    var offset = start
    while index < 16 {
      let high = UInt32(pending[offset]) &<< 24 | UInt32(pending[offset &+ 1]) &<< 16
      schedule[index] = high | UInt32(pending[offset &+ 2]) &<< 8 | UInt32(pending[offset &+ 3])
      index &+= 1
      offset &+= 4
    }
    while index < 64 {
      let early = schedule[index &- 15]
      let late = schedule[index &- 2]
      let earlySigma = Self.rotate(early, 7) ^ Self.rotate(early, 18) ^ early &>> 3
      let lateSigma = Self.rotate(late, 17) ^ Self.rotate(late, 19) ^ late &>> 10
      schedule[index] = schedule[index &- 16] &+ earlySigma &+ schedule[index &- 7] &+ lateSigma
      index &+= 1
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    index = 0
    while index < 64 {
      let sumOfE = Self.rotate(e, 6) ^ Self.rotate(e, 11) ^ Self.rotate(e, 25)
      let choice = e & f ^ ~e & g
      let first = h &+ sumOfE &+ choice &+ Self.constants[index] &+ schedule[index]
      let sumOfA = Self.rotate(a, 2) ^ Self.rotate(a, 13) ^ Self.rotate(a, 22)
      let majority = a & b ^ a & c ^ b & c
      let second = sumOfA &+ majority
      h = g
      g = f
      f = e
      e = d &+ first
      d = c
      c = b
      b = a
      a = first &+ second
      index &+= 1
    }
    state &+= SIMD8(a, b, c, d, e, f, g, h)
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word &>> count | word &<< (32 &- count)
  }

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
