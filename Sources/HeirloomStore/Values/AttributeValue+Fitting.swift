package import HeirloomModel

extension AttributeValue {
  /// `nil` if the attribute can't hold the value.
  ///
  /// To mapping models, 0 and `NO` are equal, and all numbers are of one kind.
  package func fitted(to attribute: AttributeDescription) -> AttributeValue? {
    let value: AttributeValue?
    switch (attribute.type, self) {
    case (.integer16, .double(let number)), (.integer32, .double(let number)), (.integer64, .double(let number)):
      value = Int64(exactly: number).map { .integer($0) }
    case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)), (.integer64, .boolean(let flag)):
      value = .integer(flag ? 1 : 0)
    case (.integer16, .decimal(let text)), (.integer32, .decimal(let text)), (.integer64, .decimal(let text)):
      value = Int64(text).map { .integer($0) }
    case (.double, .integer(let number)), (.float, .integer(let number)), (.date, .integer(let number)):
      value = attribute.type == .date ? .date(Double(number)) : .double(Double(number))
    case (.double, .boolean(let flag)), (.float, .boolean(let flag)): value = .double(flag ? 1 : 0)
    case (.double, .decimal(let text)), (.float, .decimal(let text)): value = Double(text).map { .double($0) }
    case (.decimal, .integer(let number)): value = .decimal(String(number))
    case (.decimal, .double(let number)): value = .decimal(String(number))
    case (.decimal, .boolean(let flag)): value = .decimal(flag ? "1" : "0")
    case (.boolean, .integer(let number)): value = number == 0 || number == 1 ? .boolean(number == 1) : nil
    case (.boolean, .double(let number)): value = number == 0 || number == 1 ? .boolean(number == 1) : nil
    case (.boolean, .decimal(let text)):
      value = Double(text).flatMap { $0 == 0 || $0 == 1 ? .boolean($0 == 1) : nil }
    case (.date, .double(let seconds)): value = .date(seconds)
    case (.string, .string): value = self
    case (let type, .string(let text)) where type.isText:
      value = ValueKind(type).flatMap { AttributeValue($0, .text(text)) }
    case (.composite, .composite(let elements)): return attribute.composite?.fitted(elements).map { .composite($0) }
    default: value = self
    }
    guard let value, (try? ValueCoding.encode(value, for: attribute)) != nil else { return nil }
    return value
  }
}

extension CompositeAttributeDescription {
  fileprivate func fitted(_ values: [String: AttributeValue]) -> [String: AttributeValue]? {
    var fitted: [String: AttributeValue] = [:]
    for (name, value) in values {
      guard let element = elements.first(where: { $0.name == name }), let kept = value.fitted(to: element) else {
        return nil
      }
      fitted[name] = kept
    }
    return fitted
  }
}
