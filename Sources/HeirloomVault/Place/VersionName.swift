import HeirloomFormats

/// The UTC time, then the start of the operation's identifier, as `20261121T101500Z-0f3a9c21`: the
/// order of names is the order of time.
package struct VersionName: Hashable, Sendable, Comparable {
  package let text: String
  /// In seconds since 1970-01-01 UTC.
  package let time: Int64

  /// `time` is limited to the years 1970 to 9999.
  package init(time: Int64, identifier: String) {
    let time = min(max(0, time), 253_402_300_799)
    let (days, second) = time.quotientAndRemainder(dividingBy: 86_400)
    let (year, month, day) = CivilCalendar.date(ofDay: days)
    let hour = CivilCalendar.padded(second / 3_600, 2)
    let clock = hour + CivilCalendar.padded(second / 60 % 60, 2) + CivilCalendar.padded(second % 60, 2)
    text =
      CivilCalendar.padded(year, 4) + CivilCalendar.padded(month, 2) + CivilCalendar.padded(day, 2) + "T" + clock + "Z-"
      + identifier.prefix(8)
    self.time = time
  }

  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 25, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z"),
      bytes[16] == UInt8(ascii: "-"),
      bytes[17...].allSatisfy(Self.isHexadecimal)
    else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      guard bytes[range].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
      return bytes[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
    guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
      let minute = number(11..<13), let second = number(13..<15),
      year >= 1970, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    self.text = text
    time = CivilCalendar.day(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
  }

  package init?(dated text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 7 else { return nil }
    self.init(parts[0...2].joined() + "T" + parts[3...5].joined() + "Z-" + parts[6])
    guard datedText == text else { return nil }
  }

  /// The readable form: `2026-11-21-10-15-00-0f3a9c21`.
  package var datedText: String {
    let digits = Array(text)
    func part(_ range: Range<Int>) -> String { String(digits[range]) }
    return [part(0..<4), part(4..<6), part(6..<8), part(9..<11), part(11..<13), part(13..<15), part(17..<25)]
      .joined(separator: "-")
  }

  package static func < (left: VersionName, right: VersionName) -> Bool {
    left.text < right.text
  }

  package static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy(isHexadecimal)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}
