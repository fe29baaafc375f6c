import HeirloomFormats
import Testing

struct DecimalMantissaTests {
  @Test(arguments: [
    "0", "1", "9", "10", "65535", "65536", "4294967296", "18446744073709551615", "18446744073709551616",
    "99999999999999999999999999999999999999", "340282366920938463463374607431768211455",
  ])
  func `digits come back`(_ digits: String) throws {
    let number = try #require(DecimalMantissa(digits))
    #expect(number.units.count == 8)
    #expect(number.digits == digits)
    #expect(DecimalMantissa(units: number.units).digits == digits)
  }

  @Test func `units count from the least significant`() throws {
    #expect(try #require(DecimalMantissa("65538")).units == [2, 1, 0, 0, 0, 0, 0, 0])
    #expect(DecimalMantissa(units: [0xFFFF, 0, 1]).digits == "4295032831")
    #expect(DecimalMantissa(units: []).digits == "0")
  }

  @Test(arguments: ["340282366920938463463374607431768211456", "1a", "-1", "٣"])
  func `what is no number of 128 bits is refused`(_ digits: String) {
    #expect(DecimalMantissa(digits) == nil)
  }
}
