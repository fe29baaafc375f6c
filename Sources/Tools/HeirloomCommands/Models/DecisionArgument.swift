import Foundation
import Heirloom
import HeirloomOutput

/// A decision in an argument about rows that don't fit: `ENTITY.PROPERTY=CHOICE`.
struct DecisionArgument {
  static let option = "--decide"
  static let valueName = "ENTITY.PROPERTY=CHOICE"

  private let text: String
  private let entity: String
  private let properties: [String]
  private let option: DataDecision.Option
  /// The value, the entity of a new object, or the attribute to order rows by age.
  private let detail: String?

  init(_ text: String) throws(UsageError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let place = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let words = (parts.last ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(
      String.init)
    detail = words.count == 2 ? words[1] : nil
    self.text = text
    properties = place.count == 2 ? place[1].split(separator: ",").map(Self.trimmed) : []
    guard parts.count == 2, let entity = place.first, !entity.isEmpty, place.count == 1 || !properties.isEmpty,
      let option = DataDecision.Option(rawValue: words[0]),
      option != .fill || detail != nil && properties.count == 1,
      option != .new || detail?.isEmpty == false && properties.count == 1, option != .quarantine || detail == nil
    else {
      throw Self.invalid(
        text,
        "ENTITY.PROPERTY=fill:VALUE, =fill:=EXPRESSION, =new:ENTITY, =newest, =newest:ATTRIBUTE, =merge, =merge:ATTRIBUTE or =quarantine"
      )
    }
    self.entity = entity
    self.option = option
  }

  /// Without duplicates, because several findings may suggest the same decision.
  static func all(in arguments: Arguments) throws(UsageError) -> [DecisionArgument] {
    var texts: [String] = []
    for text in arguments.all(option) where !texts.contains(text) { texts.append(text) }
    return try texts.map { text throws(UsageError) in try DecisionArgument(text) }
  }

  /// The value's type is that in the current version, or else in the last version with the
  /// attribute.
  func decision(in history: ModelHistory) throws(UsageError) -> DataDecision {
    let choice: DataDecision.Choice
    switch option {
    case .fill:
      choice = try Self.filling(detail ?? "", of: properties.first ?? "", in: entity, history: history, text: text)
    case .new: choice = .link(newObjectOf: detail ?? "")
    case .newest: choice = .keepNewest(by: detail)
    case .merge: choice = .merge(by: detail)
    case .quarantine: choice = .quarantine
    }
    var decision = DataDecision(entity: entity, constraint: properties, choice)
    decision.text = text
    return decision
  }

  private static func trimmed(_ text: Substring) -> String {
    text.trimmingCharacters(in: .whitespaces)
  }

  private static func invalid(_ text: String, _ expected: String) -> UsageError {
    .invalidValue(option: option, value: text, expected: expected)
  }

  private static func filling(
    _ value: String, of property: String, in entity: String, history: ModelHistory, text: String
  ) throws(UsageError) -> DataDecision.Choice {
    guard let attribute = attribute(property, of: entity, in: history) else {
      throw invalid(text, "an attribute of the model to migrate to, or of another version")
    }
    let isText = attribute.type.isText
    if value == "uuid()", isText { return .compute("CAST(uuid(), \"NSString\")") }
    if value == "uuid()" || value == "now()" { return .compute(value) }
    let isMarked = value.hasPrefix("=")
    if !isMarked, !isText, let result = self.value(value, type: attribute.type) { return .fill(result) }
    let expression = isMarked ? String(value.dropFirst()) : value
    // A misspelt date would be a subtraction and a word a property's name, so an unmarked
    // expression must contain a call.
    let mayBeExpression = isMarked || value.contains("(") || value.contains("$")
    do throws(ExpressionError) {
      if mayBeExpression { _ = try ValueExpression(parsing: expression) }
    } catch {
      if isMarked { throw invalid(text, "an expression after fill:= (\(error))") }
      if !isText { throw invalid(text, expectation(attribute.type)) }
    }
    if isMarked || mayBeExpression && !isText { return .compute(expression) }
    if mayBeExpression, (try? ValueExpression(parsing: expression)) != nil {
      throw invalid(text, "fill:=\(value) for the expression, or fill:='\(value)' with its quotes for the text")
    }
    guard let result = self.value(value, type: attribute.type) else { throw invalid(text, expectation(attribute.type)) }
    return .fill(result)
  }

  /// Of another version if need be, because decisions may be about earlier steps.
  private static func attribute(
    _ property: String, of entity: String, in history: ModelHistory
  ) -> AttributeDescription? {
    history.current.attribute(at: property, of: entity)
      ?? history.versionNames.reversed().lazy.compactMap { name in
        (try? history.model(named: name))?.attribute(at: property, of: entity)
      }.first
  }

  private static func expectation(_ type: AttributeType) -> String {
    switch type {
    case .date: "a date, such as \(Date.writtenExamples)"
    case .binary, .transformable: "a value of the type \(type.name) as hexadecimal digits"
    case .boolean: "yes or no"
    default: "a value of the type \(type.name)"
    }
  }

  private static func value(_ text: String, type: AttributeType) -> AttributeValue? {
    switch type {
    case .integer16, .integer32, .integer64: Int64(text).map { .integer($0) }
    case .double, .float: Double(text).map { .double($0) }
    case .decimal: Double(text).map { _ in .decimal(text) }
    case let type where type.isText: ValueKind(type).flatMap { AttributeValue($0, .text(text)) }
    case .boolean:
      switch text.lowercased() {
      case "yes", "true", "1": .boolean(true)
      case "no", "false", "0": .boolean(false)
      default: nil
      }
    case .date:
      Date(written: text).map { .date($0) }
    case .uuid:
      UUID(uuidString: text).map { uuid in withUnsafeBytes(of: uuid.uuid) { .uuid(Array($0)) } }
    case .binary, .transformable: bytes(text).map { .binary($0) }
    default: nil
    }
  }

  static func example(for effect: DataEffect, in history: ModelHistory) -> DataDecision? {
    let place = "\(effect.entity).\(effect.properties.joined(separator: ","))"
    switch effect.kind {
    case .missingValue:
      return effect.properties.first.flatMap { attribute($0, of: effect.entity, in: history)?.type }.flatMap { type in
        // A constraint needs different values.
        let isUnique = history.current.entity(named: effect.entity)?.uniquenessConstraints.contains(effect.properties)
        let value = isUnique == true && type.isText ? AttributeType.uuid.example : type.example
        return value.flatMap { try? DecisionArgument("\(place)=fill:\($0)").decision(in: history) }
      }
    case .duplicate: return try? DecisionArgument("\(place)=newest").decision(in: history)
    case .missingLink:
      let targets = history.current.newEntities(for: effect.properties.first ?? "", of: effect.entity)
      return targets.first.map {
        DataDecision(entity: effect.entity, constraint: effect.properties, .link(newObjectOf: $0))
      }
    default: return nil
    }
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      guard digits[start].isHexDigit, let byte = UInt8(String(digits[start...(start + 1)]), radix: 16) else {
        return nil
      }
      bytes.append(byte)
    }
    return bytes
  }
}

extension Command.Option {
  static let decide = Command.Option(
    name: DecisionArgument.option, value: DecisionArgument.valueName, isRepeatable: true,
    summary: "what becomes of rows that don't fit: fill:VALUE, fill:=EXPRESSION, new:ENTITY, newest, merge, quarantine")
}
