package enum VersionNaming {
  /// The next free name: the number in which the current name differs from the previous one is
  /// incremented, or else the number at its end.
  ///
  /// A name without a number gets a 2: `Journal`, `Journal 2`, `Journal 3`; `Model2.104.0`,
  /// `Model2.105.0`, `Model2.106.0`.
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

  /// The position of the only number in which two names differ.
  private static func place(of parts: [String], after others: [String]) -> Int? {
    let places = parts.indices.filter { $0 >= others.count || parts[$0] != others[$0] }
    guard parts.count == others.count, places.count == 1, isNumber(parts[places[0]]), isNumber(others[places[0]])
    else { return nil }
    return places[0]
  }

  /// Runs of digits and of other characters.
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

  /// Keeps leading zeros; the number may exceed any integer type.
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
