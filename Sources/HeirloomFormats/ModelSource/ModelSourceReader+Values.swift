import HeirloomModel

extension ModelSourceReader {
  mutating func defaultValue(of element: MarkupElement, type: AttributeType, _ owner: String) -> AttributeValue? {
    if type == .date, let text = element[nonEmpty: "defaultDateTimeInterval"] {
      if let seconds = Double(text), seconds.isFinite { return .date(seconds) }
      warn(.invalidValue(text, of: "defaultDateTimeInterval"), owner, element)
      return nil
    }
    guard let text = element["defaultValueString"] else { return nil }
    if type == .string { return .string(text) }
    guard !text.isEmpty else { return nil }
    guard let value = Self.value(text, of: type) else {
      warn(.invalidValue(text, of: "defaultValueString"), owner, element)
      return nil
    }
    return value
  }

  static func value(_ text: String, of type: AttributeType) -> AttributeValue? {
    switch type {
    case .integer16: integer(text).flatMap(Int16.init(exactly:)).map { .integer(Int64($0)) }
    case .integer32: integer(text).flatMap(Int32.init(exactly:)).map { .integer(Int64($0)) }
    case .integer64: integer(text).map { .integer($0) }
    case .double, .float: number(text).map { .double($0) }
    case .decimal: DecimalText.canonical(text).map { .decimal($0) }
    case .boolean: boolean(text).map { .boolean($0) } ?? number(text).map { .boolean($0 != 0) }
    case .uuid: uuidBytes(text).map { .uuid($0) }
    // The others have no text, and so no value here.
    default: ValueKind(type).flatMap { AttributeValue($0, .text(text)) }
    }
  }

  /// Also `NO` and `0.0`, which models contain after a change of type.
  private static func integer(_ text: String) -> Int64? {
    if let number = Int64(text) { return number }
    if let number = Double(text) { return Int64(exactly: number) }
    return boolean(text).map { $0 ? 1 : 0 }
  }

  private static func number(_ text: String) -> Double? {
    if let number = Double(text) { return number.isFinite ? number : nil }
    return boolean(text).map { $0 ? 1 : 0 }
  }

  private static func uuidBytes(_ text: String) -> [UInt8]? {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
    let digits = groups.joined().compactMap(\.hexDigitValue)
    guard digits.count == 32 else { return nil }
    return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// Converts limits to predicates as the model compiler does.
  mutating func validationRules(of element: MarkupElement, type: AttributeType, _ owner: String) -> [ValidationRule] {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      return limits(
        of: element, owner, names: ("minValueString", "maxValueString"), subject: .evaluatedObject,
        codes: (ValidationCode.numberTooSmall, ValidationCode.numberTooLarge)
      ) { Self.value($0, of: type) }
    case .date:
      let rules = limits(
        of: element, owner, names: ("minDateTimeInterval", "maxDateTimeInterval"), subject: .evaluatedObject,
        codes: (ValidationCode.dateTooSoon, ValidationCode.dateTooLate)
      ) { Double($0).flatMap { $0.isFinite ? .date($0) : nil } }
      // Old files repeat the limits as dates in the author's locale.
      for name in ["minValueString", "maxValueString"] {
        if let text = element[nonEmpty: name],
          element[name == "minValueString" ? "minDateTimeInterval" : "maxDateTimeInterval"] == nil
        {
          warn(.invalidValue(text, of: name), owner, element)
        }
      }
      return rules
    case .string:
      var rules = limits(
        of: element, owner, names: ("minValueString", "maxValueString"), subject: .keyPath("length"),
        codes: (ValidationCode.stringTooShort, ValidationCode.stringTooLong)
      ) { Int64($0).map { .integer($0) } }
      if let pattern = element[nonEmpty: "regularExpressionString"] {
        let comparison = PredicateDescription.Comparison(
          left: .evaluatedObject, comparator: .matches, right: .constant(.value(.string(pattern))))
        rules.append(
          ValidationRule(predicate: .comparison(comparison), warning: .code(ValidationCode.stringPattern)))
      }
      return rules
    default:
      return []
    }
  }

  private mutating func limits(
    of element: MarkupElement, _ owner: String, names: (minimum: String, maximum: String), subject: ValueExpression,
    codes: (minimum: Int, maximum: Int), value: (String) -> AttributeValue?
  ) -> [ValidationRule] {
    var rules: [ValidationRule] = []
    let limits: [(name: String, comparator: PredicateDescription.Comparator, code: Int)] = [
      (names.minimum, .greaterThanOrEqual, codes.minimum), (names.maximum, .lessThanOrEqual, codes.maximum),
    ]
    for limit in limits {
      guard let text = element[nonEmpty: limit.name] else { continue }
      guard let value = value(text) else {
        warn(.invalidValue(text, of: limit.name), owner, element)
        continue
      }
      let comparison = PredicateDescription.Comparison(
        left: subject, comparator: limit.comparator, right: .constant(.value(value)))
      rules.append(ValidationRule(predicate: .comparison(comparison), warning: .code(limit.code)))
    }
    return rules
  }
}

/// Core Data's codes for values outside their limits (`NSValidation…Error`).
private enum ValidationCode {
  static let numberTooLarge = 1610
  static let numberTooSmall = 1620
  static let dateTooLate = 1630
  static let dateTooSoon = 1640
  static let stringTooLong = 1660
  static let stringTooShort = 1670
  static let stringPattern = 1680
}
