package enum DecimalText {
  /// False for numbers of more than 38 digits.
  package static func areEqual(_ one: String, _ other: String) -> Bool {
    guard let first = parts(one), let second = parts(other) else { return false }
    return first == second
  }

  /// Makes defaults from different formats equal: `+012.50` becomes `12.5`; exponents stay.
  static func canonical(_ text: some StringProtocol) -> String? {
    var rest = Substring(text)
    let isNegative = rest.first == "-"
    if isNegative || rest.first == "+" { rest.removeFirst() }
    let parts = rest.split(separator: "e", maxSplits: 1, omittingEmptySubsequences: false)
    let lowered = parts.count > 1 ? parts : rest.split(separator: "E", maxSplits: 1, omittingEmptySubsequences: false)
    var exponent = 0
    if lowered.count > 1 {
      guard let number = Int(lowered[1]), (-999...999).contains(number) else { return nil }
      exponent = number
    }
    guard let mantissa = lowered.first else { return nil }
    let digits = mantissa.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = digits.first, digits.allSatisfy({ $0.allSatisfy { ("0"..."9").contains($0) } }),
      digits.contains(where: { !$0.isEmpty }), mantissa.count <= 200
    else { return nil }
    var fraction = digits.count > 1 ? digits[1] : ""
    while fraction.last == "0" { fraction.removeLast() }
    let significant = whole.drop { $0 == "0" }
    if significant.isEmpty && fraction.isEmpty { return "0" }
    let number = (significant.isEmpty ? "0" : significant) + (fraction.isEmpty ? "" : "." + fraction)
    return (isNegative ? "-" : "") + number + (exponent == 0 ? "" : "e\(exponent)")
  }

  static func text(digits: String, exponent: Int, isNegative: Bool) -> String? {
    guard (-1000...1000).contains(exponent) else { return nil }
    let sign = isNegative ? "-" : ""
    guard exponent < 0 else { return canonical(sign + digits + String(repeating: "0", count: exponent)) }
    let padding = max(0, 1 - exponent - digits.count)
    let padded = String(repeating: "0", count: padding) + digits
    let point = padded.index(padded.endIndex, offsetBy: exponent)
    return canonical(sign + padded[..<point] + "." + padded[point...])
  }

  /// `nil` for text that is no decimal number, or exceeds `NSDecimalNumber`'s digits or exponent.
  static func parts(_ text: String) -> (mantissa: DecimalMantissa, exponent: Int, isNegative: Bool)? {
    guard let canonical = canonical(text) else { return nil }
    let isNegative = canonical.hasPrefix("-")
    let pieces = canonical.drop { $0 == "-" }.split(separator: "e", maxSplits: 1)
    guard let number = pieces.first else { return nil }
    var exponent = pieces.count > 1 ? Int(pieces[1]) ?? 0 : 0
    let digits = number.split(separator: ".", maxSplits: 1)
    if digits.count > 1 { exponent -= digits[1].count }
    var significant = Substring(digits.joined()).drop { $0 == "0" }
    while significant.last == "0" {
      significant.removeLast()
      exponent += 1
    }
    guard !significant.isEmpty else { return (DecimalMantissa(units: []), 0, false) }
    guard significant.count <= 38, (-128...127).contains(exponent), let mantissa = DecimalMantissa(significant) else {
      return nil
    }
    return (mantissa, exponent, isNegative)
  }
}
