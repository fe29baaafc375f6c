import Foundation
import Heirloom

extension Date {
  static let writtenExamples = "2026-11-21 or 2026-11-21T10:15:00Z"

  /// A day, which begins at midnight UTC, or a time with its zone, such as
  /// `2026-11-21T10:15:00+01:00`.
  ///
  /// Foundation would accept February 30 and text after the date.
  init?(written text: String) {
    let isDay = text.count == 10
    guard let local = CivilCalendar.seconds(of: isDay ? text + "T00:00:00Z" : text.prefix(19) + "Z") else { return nil }
    var seconds = Double(local)
    var zone = isDay ? "Z" : text.dropFirst(19)
    if zone.first == "." {
      let digits = zone.dropFirst().prefix { $0.isASCII && $0.isNumber }
      guard !digits.isEmpty, let fraction = Double("0.\(digits)") else { return nil }
      seconds += fraction
      zone = zone.dropFirst(digits.count + 1)
    }
    if zone != "Z" {
      let digits = zone.dropFirst().filter { $0 != ":" }
      guard zone.first == "+" || zone.first == "-", digits.count == 4, let offset = UInt16(digits), offset % 100 < 60
      else { return nil }
      let minutes = Double(offset / 100 * 60 + offset % 100)
      seconds += zone.first == "+" ? -60 * minutes : 60 * minutes
    }
    self.init(timeIntervalSince1970: seconds)
  }
}
