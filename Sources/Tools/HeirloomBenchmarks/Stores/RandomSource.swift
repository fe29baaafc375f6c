/// SplitMix64: Steele, Lea and Flood, “Fast splittable pseudorandom number generators”, 2014.
struct RandomSource: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }

  /// From 0 up to, but not including, `limit`, which is at most 2³².
  mutating func below(_ limit: Int) -> Int {
    // The standard library's algorithm may change, which would change the bytes of the stores.
    Int(truncatingIfNeeded: ((next() >> 32) &* UInt64(clamping: limit)) >> 32)
  }

  mutating func element(of texts: [String]) -> String {
    let index = below(texts.count)
    return texts.indices.contains(index) ? texts[index] : ""
  }
}
