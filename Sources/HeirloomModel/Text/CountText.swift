/// Formatting of numbers in messages, the same in every locale.
package enum CountText {
  /// Such as `1,234,567`.
  package static func grouped(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// Such as `1 row`, `2 rows`, `3 entities`.
  package static func counted(_ number: some BinaryInteger, _ word: String) -> String {
    let plural = word.hasSuffix("y") && !word.hasSuffix("ay") ? word.dropLast() + "ies" : word + "s"
    return "\(grouped(number)) \(number == 1 ? word : String(plural))"
  }

  /// `differs` for 1, `differ` for others.
  package static func verb(_ plural: String, _ number: some BinaryInteger) -> String {
    guard number == 1 else { return plural }
    return switch plural {
    case "are": "is"
    case "were": "was"
    case "have": "has"
    default: plural + "s"
    }
  }

  /// Decimal units: `512 bytes`, `1.5 MB`.
  package static func size(_ bytes: some BinaryInteger) -> String {
    guard bytes >= 1000 else { return counted(bytes, "byte") }
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
    var value = Double(bytes) / 1000
    var index = 0
    while value >= 999.95, index < units.count - 1 {
      value /= 1000
      index += 1
    }
    let tenths = Int64((value * 10).rounded())
    return "\(grouped(tenths / 10)).\(tenths % 10) \(units[index])"
  }
}
