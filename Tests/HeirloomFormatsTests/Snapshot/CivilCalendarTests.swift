import Foundation
import HeirloomFormats
import Testing

struct CivilCalendarTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
      (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
      (-62_135_596_800, "0001-01-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
    ] as [(Int64, String)])
  func `a time has one text`(_ seconds: Int64, _ text: String) {
    #expect(CivilCalendar.text(of: seconds) == text)
    #expect(CivilCalendar.seconds(of: text) == seconds)
  }

  @Test func `times are what Foundation makes of them`() throws {
    let style = Date.ISO8601FormatStyle(timeZone: .gmt)
    for seconds in stride(from: Int64(-2_000_000_000), to: 8_000_000_000, by: 9_999_991) {
      let text = CivilCalendar.text(of: seconds)
      #expect(text == Date(timeIntervalSince1970: Double(seconds)).formatted(style))
      #expect(CivilCalendar.seconds(of: text) == seconds)
    }
  }

  @Test(arguments: [
    "", "2026-11-21", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-10T00:00:00Z", "2026-11-21T24:00:00Z",
    "2026-11-21T10:60:00Z", "2026-11-21T10:15:60Z", "2026-11-21t10:15:00Z", "2026-11-21T10:15:00z",
    "2026-11-21 10:15:00Z", "2026/11/21T10:15:00Z", "2026-11-21T10:15:0éZ", "a026-11-21T10:15:00Z",
    "????-??-??T??:??:??Z", "2026-11-21T10:15:00+02:00",
  ])
  func `another text is no time of ours`(_ text: String) {
    #expect(CivilCalendar.seconds(of: text) == nil)
  }
}
