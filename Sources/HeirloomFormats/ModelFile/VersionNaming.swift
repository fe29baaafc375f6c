/// The names of a model's versions, which go on as they began.
package enum VersionNaming {
  /// Returns the name of the version after the current one.
  ///
  /// The number in which the current name differs from the one before goes on; else the number at its end, and a name
  /// without one gets a 2: `Journal`, `Journal 2`, `Journal 3`; `Model2.104.0`, `Model2.105.0`, `Model2.106.0`.
  ///
  /// - Parameters:
  ///   - current: The current version's name.
  ///   - names: The names of all versions.
  ///   - isTaken: Returns true for a name that can't be given.
  /// - Returns: The first name in the row that isn't taken.
  package static func next(after current: String, among names: [String], isTaken: (String) -> Bool) -> String {
    let before = names.filter { NaturalOrder.precedes($0, current) }.max { NaturalOrder.precedes($0, $1) }
    var parts = parts(of: current)
    var position = before.flatMap { place(of: parts, after: Self.parts(of: $0)) }
    if position == nil, let last = parts.last, isNumber(last) { position = parts.count - 1 }
    if position == nil {
      parts += [" ", "1"]
      position = parts.count - 1
    }
    guard let position else { return current }
    var name = current
    repeat {
      parts[position] = following(parts[position])
      name = parts.joined()
    } while isTaken(name)
    return name
  }

  /// Returns the place of the one number in which two names differ; `nil` if they differ elsewhere.
  private static func place(of parts: [String], after others: [String]) -> Int? {
    let places = parts.indices.filter { $0 >= others.count || parts[$0] != others[$0] }
    guard parts.count == others.count, places.count == 1, isNumber(parts[places[0]]), isNumber(others[places[0]])
    else { return nil }
    return places[0]
  }

  /// Returns a name's runs of digits and of other characters.
  private static func parts(of name: String) -> [String] {
    var parts: [String] = []
    for character in name {
      let text = String(character)
      if let last = parts.last, isNumber(last) == isNumber(text) {
        parts[parts.count - 1] = last + text
      } else {
        parts.append(text)
      }
    }
    return parts
  }

  private static func isNumber(_ text: String) -> Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Returns the next number, with as many digits as leading zeros ask for; it may be longer than any integer.
  private static func following(_ number: String) -> String {
    var digits = Array(number.utf8)
    for index in digits.indices.reversed() {
      guard digits[index] == UInt8(ascii: "9") else {
        digits[index] += 1
        return String(decoding: digits, as: UTF8.self)
      }
      digits[index] = UInt8(ascii: "0")
    }
    return "1" + String(decoding: digits, as: UTF8.self)
  }
}
