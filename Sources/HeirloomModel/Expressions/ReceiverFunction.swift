/// The functions of plain values in `FUNCTION(value, "selector", …)`.
///
/// They are methods of Foundation's classes that mapping models use. The result for a null receiver is null.
enum ReceiverFunction {
  typealias Body =
    @Sendable (
      _ receiver: EvaluatedValue, _ arguments: [EvaluatedValue], _ evaluator: ExpressionEvaluator, _ selector: String
    ) throws -> EvaluatedValue

  static let components: String = "componentsSeparatedByString:"

  static let all: [String: Body] = texts.merging(numbers) { first, _ in first }.merging(lists) { first, _ in first }

  static func call(
    _ selector: String, of receiver: EvaluatedValue, _ arguments: [EvaluatedValue], evaluator: ExpressionEvaluator
  ) throws -> EvaluatedValue? {
    guard let body = all[selector] else { return nil }
    let expected = selector.utf8.count { $0 == UInt8(ascii: ":") }
    guard arguments.count == expected else {
      throw EvaluationError.wrongArgumentCount(selector: selector, found: arguments.count, expected: expected)
    }
    return receiver.isNull ? .null : try body(receiver, arguments, evaluator, selector)
  }

  private static func text(
    _ transform: @escaping @Sendable (String, [EvaluatedValue], ExpressionEvaluator, String) throws -> EvaluatedValue
  ) -> Body {
    { receiver, arguments, evaluator, selector in
      try transform(evaluator.string(receiver, for: selector), arguments, evaluator, selector)
    }
  }

  private static let texts: [String: Body] = [
    "stringByAppendingString:": text { text, arguments, evaluator, selector in
      .string(text + (try evaluator.string(arguments[0], for: selector)))
    },
    components: text { text, arguments, evaluator, selector in
      let separator = try evaluator.string(arguments[0], for: selector)
      return .list(text.parts(separatedBy: separator).map { .string($0) })
    },
    "stringByReplacingOccurrencesOfString:withString:": text { text, arguments, evaluator, selector in
      let target = try evaluator.string(arguments[0], for: selector)
      let replacement = try evaluator.string(arguments[1], for: selector)
      return .string(text.parts(separatedBy: target).joined(separator: replacement))
    },
    "substringToIndex:": text { text, arguments, evaluator, selector in
      let index = try text.index(atUnit: evaluator.integer(arguments[0], for: selector))
      return .string(String(text[..<index]))
    },
    "substringFromIndex:": text { text, arguments, evaluator, selector in
      let index = try text.index(atUnit: evaluator.integer(arguments[0], for: selector))
      return .string(String(text[index...]))
    },
    "hasPrefix:": text { text, arguments, evaluator, selector in
      .boolean(text.unicodeScalars.starts(with: try evaluator.string(arguments[0], for: selector).unicodeScalars))
    },
    "hasSuffix:": text { text, arguments, evaluator, selector in
      let suffix = try evaluator.string(arguments[0], for: selector).unicodeScalars.reversed()
      return .boolean(text.unicodeScalars.reversed().starts(with: suffix))
    },
    "uppercaseString": text { text, _, _, _ in .string(text.uppercased()) },
    "lowercaseString": text { text, _, _, _ in .string(text.lowercased()) },
    "length": { receiver, _, evaluator, _ in try evaluator.value(forKey: "length", of: receiver) },
  ]

  private static let numbers: [String: Body] = [
    "stringValue": { receiver, _, evaluator, _ in try evaluator.cast(receiver, to: "NSString") },
    "integerValue": { receiver, _, evaluator, selector in try integer(receiver, evaluator, selector) },
    "intValue": { receiver, _, evaluator, selector in try integer(receiver, evaluator, selector) },
    "longLongValue": { receiver, _, evaluator, selector in try integer(receiver, evaluator, selector) },
    "doubleValue": { receiver, _, evaluator, selector in
      if case .value(.string(let text)) = receiver { return .double(leadingNumber(of: text)) }
      return .double(try evaluator.number(receiver, for: selector).double)
    },
    "boolValue": { receiver, _, evaluator, selector in
      .boolean(try evaluator.number(receiver, for: selector).double != 0)
    },
    "timeIntervalSinceReferenceDate": { receiver, _, _, selector in
      guard case .value(.date(let seconds)) = receiver else {
        throw EvaluationError.wrongKind(operation: selector, found: receiver.kind, expected: "a date")
      }
      return .double(seconds)
    },
    "dateByAddingTimeInterval:": { receiver, arguments, evaluator, selector in
      guard case .value(.date) = receiver, !arguments[0].isNull else {
        throw EvaluationError.wrongKind(operation: selector, found: receiver.kind, expected: "a date and a number")
      }
      return try evaluator.calculate(.add, receiver, arguments[0])
    },
  ]

  private static let lists: [String: Body] = [
    "count": { receiver, _, evaluator, selector in
      .integer(Int64(try evaluator.members(of: receiver, for: selector).count))
    },
    "firstObject": { receiver, _, evaluator, selector in
      try evaluator.members(of: receiver, for: selector).first ?? .null
    },
    "lastObject": { receiver, _, evaluator, selector in
      try evaluator.members(of: receiver, for: selector).last ?? .null
    },
    "objectAtIndex:": { receiver, arguments, evaluator, selector in
      let elements = try evaluator.members(of: receiver, for: selector)
      let index = try evaluator.integer(arguments[0], for: selector)
      guard index >= 0, index < elements.count else {
        throw EvaluationError.indexOutOfRange(index: index, count: elements.count)
      }
      return elements[Int(clamping: index)]
    },
    "componentsJoinedByString:": { receiver, arguments, evaluator, selector in
      let separator = try evaluator.string(arguments[0], for: selector)
      let parts = try evaluator.members(of: receiver, for: selector).map { try evaluator.string($0, for: selector) }
      return .string(parts.joined(separator: separator))
    },
  ]

  /// Foundation's `doubleValue`: zero where no decimal number is at the start.
  private static func leadingNumber(of text: String) -> Double {
    let bytes = Array(text.drop(while: \.isWhitespace).utf8)
    func has(_ signs: String, at place: Int) -> Bool { place < bytes.count && signs.utf8.contains(bytes[place]) }
    func digits(from start: Int) -> Int {
      bytes[min(start, bytes.count)...].firstIndex { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        ?? bytes.count
    }
    let start = has("+-", at: 0) ? 1 : 0
    var end = digits(from: start)
    var count = end - start
    if has(".", at: end) {
      let fraction = digits(from: end + 1)
      count += fraction - end - 1
      end = fraction
    }
    guard count > 0 else { return 0 }
    if has("eE", at: end) {
      let exponent = has("+-", at: end + 1) ? end + 2 : end + 1
      let last = digits(from: exponent)
      if last > exponent { end = last }
    }
    return Double(String(decoding: bytes[..<end], as: UTF8.self)) ?? 0
  }

  private static func integer(
    _ value: EvaluatedValue, _ evaluator: ExpressionEvaluator, _ selector: String
  ) throws -> EvaluatedValue {
    if case .value(.string(let text)) = value {
      var digits = ""
      for character in text.drop(while: \.isWhitespace) {
        guard character.isASCII, character.isNumber || digits.isEmpty && "+-".contains(character) else { break }
        digits.append(character)
      }
      if digits.isEmpty || digits == "-" || digits == "+" { return .integer(0) }
      guard let number = Int64(digits) else { throw EvaluationError.overflow(operation: selector) }
      return .integer(number)
    }
    switch try evaluator.number(value, for: selector) {
    case .integer(let number): return .integer(number)
    case .double(let number):
      guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
        throw EvaluationError.overflow(operation: selector)
      }
      return .integer(whole)
    }
  }
}

extension String {
  /// The separator is compared by scalars; an empty one doesn't split the text.
  fileprivate func parts(separatedBy separator: String) -> [String] {
    let wanted = Array(separator.unicodeScalars)
    guard let first = wanted.first else { return [self] }
    let scalars = unicodeScalars
    var parts: [String] = []
    var start = scalars.startIndex
    var index = start
    while index < scalars.endIndex {
      if scalars[index] == first, scalars[index...].starts(with: wanted) {
        parts.append(String(scalars[start..<index]))
        index = scalars.index(index, offsetBy: wanted.count)
        start = index
      } else {
        index = scalars.index(after: index)
      }
    }
    parts.append(String(scalars[start...]))
    return parts
  }

  /// Foundation counts UTF-16 code units.
  fileprivate func index(atUnit unit: Int64) throws -> Index {
    let count = utf16.count
    guard unit >= 0, unit <= count,
      let index = utf16.index(startIndex, offsetBy: Int(clamping: unit)).samePosition(in: unicodeScalars)
    else { throw EvaluationError.indexOutOfRange(index: unit, count: count) }
    return index
  }
}
