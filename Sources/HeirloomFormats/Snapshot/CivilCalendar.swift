/// UTC times without Foundation, whose date styles load its whole internationalization: several
/// megabytes of a migration's memory for one line of text.
package enum CivilCalendar {
  private static let secondsPerDay: Int64 = 86_400
  /// The days from 1 March of the year 0 to 1970-01-01.
  private static let firstDay: Int64 = 719_468

  /// As in `2026-11-21T10:15:00Z`, from seconds since 1970-01-01 UTC, in the years 1 to 9999.
  package static func text(of seconds: Int64) -> String {
    let second = (seconds % secondsPerDay + secondsPerDay) % secondsPerDay
    let (year, month, day) = date(ofDay: (seconds - second) / secondsPerDay)
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T" + padded(second / 3_600, 2) + ":"
      + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2) + "Z"
  }

  /// Seconds since 1970-01-01 UTC; `nil` for another form, or for a time that doesn't exist.
  package static func seconds(of text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 20 else { return nil }
    func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 * 10 + Int64($1 & 0x0F) } }
    let days = day(year: number(0..<4), month: number(5..<7), day: number(8..<10))
    let seconds = days * secondsPerDay + number(11..<13) * 3_600 + number(14..<16) * 60 + number(17..<19)
    return self.text(of: seconds) == text ? seconds : nil
  }

  // Eras of 400 years start on 1 March, so that the leap day is the last day of its year.

  /// Days since 1970-01-01, negative before it, for the years 1 to 9999.
  package static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let yearOfEra = shifted % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return shifted / 400 * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - firstDay
  }

  /// The day counts from 1970-01-01, in the years 1 to 9999.
  package static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = day + firstDay
    let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }

  /// For non-negative numbers.
  package static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
