/// A whole number of 128 bits; `UInt128` requires iOS 18.
package struct DecimalMantissa: Hashable {
  /// Eight units of 16 bits, the least significant first.
  package private(set) var units: [UInt16]

  /// At most eight units.
  package init(units: [UInt16]) {
    self.units = units + Array(repeating: 0, count: 8 - units.count)
  }

  /// `nil` if a digit is invalid, or the number needs more than 128 bits.
  package init?(_ digits: some StringProtocol) {
    units = Array(repeating: 0, count: 8)
    for digit in digits.utf8 {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      var carry = UInt32(digit - UInt8(ascii: "0"))
      for index in units.indices {
        carry += UInt32(units[index]) * 10
        units[index] = UInt16(truncatingIfNeeded: carry)
        carry >>= 16
      }
      guard carry == 0 else { return nil }
    }
  }

  /// Without leading zeros.
  package var digits: String {
    var rest = units
    var digits: [UInt8] = []
    repeat {
      var remainder: UInt32 = 0
      for index in rest.indices.reversed() {
        remainder = remainder << 16 | UInt32(rest[index])
        rest[index] = UInt16(remainder / 10)
        remainder %= 10
      }
      digits.append(UInt8(ascii: "0") + UInt8(remainder))
    } while rest.contains { $0 != 0 }
    return String(decoding: digits.reversed(), as: UTF8.self)
  }
}
