import Foundation
import Heirloom

/// With a comma before each group of three digits.
package func grouped(_ number: Int64) -> String { CountText.grouped(number) }

/// As in `1 row`, `2 rows`, `3 entities`.
package func counted(_ number: Int64, _ word: String) -> String { CountText.counted(number, word) }

/// As in `differs` for 1, `differ` for others.
package func verb(_ plural: String, _ number: Int64) -> String { CountText.verb(plural, number) }

/// As in `512 bytes`, `1.5 MB`.
package func sizeText(_ bytes: Int64) -> String { CountText.size(bytes) }

/// As in `0.12 s`, `2 min 5 s`.
package func durationText(_ seconds: Double) -> String {
  guard seconds.isFinite, seconds >= 0 else { return "an unknown time" }
  if seconds < 10 { return String(format: "%.2f s", seconds) }
  guard seconds >= 60 else { return String(format: "%.0f s", seconds) }
  let whole = Int64(min(seconds, 1e12).rounded())
  if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
  return "\(grouped(whole / 3600)) h \(whole / 60 % 60) min"
}

package func listText(_ names: [String], limit: Int = 8) -> String {
  let rest = names.count > limit ? " and \(names.count - limit) more" : ""
  return names.prefix(limit).joined(separator: ", ") + rest
}

/// First letter in upper case, full stop at the end.
package func sentence(_ text: String) -> String { ErrorWords.sentence(text) }
