import HeirloomModel

extension ModelArchiveReader {
  /// A composite has its defaults in its elements.
  mutating func defaultValue(
    of object: ArchivedObject, type: AttributeType, _ place: String
  ) throws(FormatError) -> AttributeValue? {
    guard type != .composite else { return nil }
    return try value(try decoder.node("NSDefaultValue", of: object), of: type, place)
  }

  mutating func value(
    _ node: KeyedArchive.Node, of type: AttributeType, _ place: String
  ) throws(FormatError) -> AttributeValue? {
    if case .null = node { return nil }
    let scalar = try self.value(node)
    let converted: AttributeValue? =
      switch (type, scalar) {
      case (.integer16, .integer), (.integer32, .integer), (.integer64, .integer): scalar
      case (.integer16, .boolean(let value)), (.integer32, .boolean(let value)), (.integer64, .boolean(let value)):
        .integer(value ? 1 : 0)
      case (.integer16, .double(let value)), (.integer32, .double(let value)), (.integer64, .double(let value)):
        Int64(exactly: value.rounded(.towardZero)).map { .integer($0) }
      case (.double, .double), (.float, .double): scalar
      case (.double, .integer(let value)), (.float, .integer(let value)): .double(Double(value))
      case (.double, .boolean(let value)), (.float, .boolean(let value)): .double(value ? 1 : 0)
      case (.decimal, .decimal): scalar
      case (.decimal, .integer(let value)): .decimal(String(value))
      case (.decimal, .double(let value)): DecimalText.canonical("\(value)").map { .decimal($0) }
      case (.boolean, .boolean): scalar
      case (.boolean, .integer(let value)): .boolean(value != 0)
      case (.boolean, .double(let value)): .boolean(value != 0)
      case (_, let value?) where !type.isNumeric && type != .boolean && value.kind == ValueKind(type): scalar
      default: nil
      }
    if converted == nil {
      var found = "a value of another type"
      if case .object(let object) = node { found = try decoder.classNames(of: object)[0] }
      warn(.invalidValue(found, of: "NSDefaultValue"), place)
    }
    return converted
  }

  mutating func value(_ node: KeyedArchive.Node) throws(FormatError) -> AttributeValue? {
    switch node {
    case .null: return nil
    case .scalar(.integer(let number)): return .integer(number)
    case .scalar(.real(let number)): return number.isFinite ? .double(number) : nil
    case .scalar(.boolean(let value)): return .boolean(value)
    case .scalar(.string(let text)): return .string(text)
    case .scalar(.data(let bytes)): return .binary(bytes)
    case .scalar(.date(let seconds)): return seconds.isFinite ? .date(seconds) : nil
    case .scalar: return nil
    case .object(let object):
      let classes = try decoder.classNames(of: object)
      if classes.contains("NSDecimalNumber") || classes[0] == "NSDecimalNumberPlaceholder" {
        return try decimal(object).map { .decimal($0) }
      }
      if classes.contains("NSString") { return try decoder.string(.object(object)).map { .string($0) } }
      if classes.contains("NSDate"), case .scalar(.real(let seconds)) = try decoder.node("NS.time", of: object) {
        return seconds.isFinite ? .date(seconds) : nil
      }
      if classes.contains("NSUUID"), case .scalar(.data(let bytes)) = try decoder.node("NS.uuidbytes", of: object) {
        return bytes.count == 16 ? .uuid(bytes) : nil
      }
      if classes.contains("NSURL") {
        let base = try decoder.object("NS.base", of: object)
        guard base == nil, let text = try decoder.string("NS.relative", of: object) else { return nil }
        return .uri(text)
      }
      if classes.contains("NSData"), case .scalar(.data(let bytes)) = try decoder.node("NS.data", of: object) {
        return .binary(bytes)
      }
      return nil
    }
  }

  private mutating func decimal(_ object: ArchivedObject) throws(FormatError) -> String? {
    guard case .scalar(.data(let mantissa)) = try decoder.node("NS.mantissa", of: object), mantissa.count == 16,
      let exponent = try decoder.integer("NS.exponent", of: object)
    else { return nil }
    // Eight units of 16 bits, least significant first, each in the byte order of the writing machine.
    let isBigEndian = try decoder.integer("NS.mantissa.bo", of: object) == 2
    let length = try decoder.integer("NS.length", of: object) ?? 8
    guard (0...8).contains(length) else { return nil }
    let isNegative = try decoder.boolean("NS.negative", of: object)
    // A negative number without digits represents NaN.
    guard length > 0 || !isNegative else { return nil }
    let units = (0..<Int(length)).map { unit in
      let (first, second) = (UInt16(mantissa[2 * unit]), UInt16(mantissa[2 * unit + 1]))
      return isBigEndian ? first << 8 | second : second << 8 | first
    }
    return DecimalText.text(
      digits: DecimalMantissa(units: units).digits, exponent: exponent, isNegative: isNegative)
  }
}
