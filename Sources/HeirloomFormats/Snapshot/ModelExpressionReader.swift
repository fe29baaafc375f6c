import Foundation
import HeirloomModel

/// Reads format 1, where the depth of the JSON document limits that of expressions.
enum ModelExpressionReader {
  // MARK: - Values

  static func value(_ value: JSONValue, _ place: String) throws(ModelReadingError) -> AttributeValue {
    guard case .object(let members) = value, members.count == 1, let member = members.first,
      let result = attributeValue(member.key, member.value)
    else { throw SnapshotObject.unexpected("a value under the name of its kind", place) }
    return result
  }

  private static func attributeValue(_ kind: String, _ value: JSONValue) -> AttributeValue? {
    guard let kind = ValueKind(rawValue: kind) else { return nil }
    switch (kind, value) {
    case (.integer, .integer(let number)): return .integer(number)
    case (.boolean, .boolean(let flag)): return .boolean(flag)
    case (.double, _), (.date, _): return double(value).flatMap { AttributeValue(kind, .real($0)) }
    case (.binary, .string(let text)): return Data(base64Encoded: text).map { .binary(Array($0)) }
    case (.uuid, .string(let text)): return bytes(hexadecimal: text).map { .uuid($0) }
    case (_, .string(let text)): return AttributeValue(kind, .text(text))
    case (.composite, .object(let members)): return composite(members)
    default: return nil
    }
  }

  private static func composite(_ members: [String: JSONValue]) -> AttributeValue? {
    var elements: [String: AttributeValue] = [:]
    for (name, member) in members {
      guard case .object(let kinds) = member, kinds.count == 1, let kind = kinds.first,
        let element = attributeValue(kind.key, kind.value)
      else { return nil }
      elements[name] = element
    }
    return .composite(elements)
  }

  /// Numbers that JSON can't represent are texts.
  private static func double(_ value: JSONValue) -> Double? {
    switch value {
    case .double(let number): number
    case .integer(let number): Double(number)
    case .string(let text): Double(text)
    default: nil
    }
  }

  static func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static func constant(_ value: JSONValue, _ place: String) throws(ModelReadingError) -> ConstantValue {
    switch value {
    case .null:
      return .null
    case .array(let elements):
      var constants: [ConstantValue] = []
      for (index, element) in elements.enumerated() { constants.append(try constant(element, "\(place)[\(index)]")) }
      return .array(constants)
    case .object(let members):
      if case .string(let name)? = members["className"], members.count == 1 { return .className(name) }
      return .value(try self.value(value, place))
    default:
      throw SnapshotObject.unexpected("a fixed value", place)
    }
  }

  // MARK: - Expressions

  static func expression(_ value: JSONValue, _ place: String) throws(ModelReadingError) -> ValueExpression {
    var object = try SnapshotObject(value, place: place)
    let expression = try expression(&object)
    try object.finish()
    return expression
  }

  private static func expression(_ object: inout SnapshotObject) throws(ModelReadingError) -> ValueExpression {
    let place = object.place
    if let value = object.take("constant") { return .constant(try constant(value, "\(place).constant")) }
    if try object.flag("evaluatedObject") { return .evaluatedObject }
    if let path = try object.string("keyPath") {
      return .keyPath(operand: try member("operand", of: &object) ?? .evaluatedObject, path: path)
    }
    if let selector = try object.string("function") {
      return .function(
        operand: try member("operand", of: &object), selector: selector,
        arguments: try object.list("arguments", expression))
    }
    if object.has("aggregate") { return .aggregate(try object.list("aggregate", expression)) }
    if let value = object.take("subquery") {
      return .subquery(
        collection: try required("collection", of: &object), variable: try object.requiredString("variable"),
        predicate: try predicate(value, "\(place).subquery"))
    }
    if let name = try object.string("variable") { return .variable(name) }
    if let request = try member("fetch", of: &object) {
      let context = try required("context", of: &object)
      return .fetch(request: request, context: context, countOnly: try object.flag("countOnly"))
    }
    if let value = object.take("if") {
      return .conditional(
        predicate: try predicate(value, "\(place).if"), then: try required("then", of: &object),
        otherwise: try required("otherwise", of: &object))
    }
    if let name = try object.string("setOperation") {
      guard let operation = ValueExpression.SetOperator(rawValue: name) else {
        throw SnapshotObject.unexpected("the name of a set operation", "\(place).setOperation")
      }
      return .setOperation(operation, try required("left", of: &object), try required("right", of: &object))
    }
    if let text = try object.string("unparsed") { return .unparsed(text) }
    throw SnapshotObject.unexpected("an expression", place)
  }

  private static func member(
    _ key: String, of object: inout SnapshotObject
  ) throws(ModelReadingError) -> ValueExpression? {
    guard let value = object.take(key) else { return nil }
    return try expression(value, "\(object.place).\(key)")
  }

  private static func required(
    _ key: String, of object: inout SnapshotObject
  ) throws(ModelReadingError) -> ValueExpression {
    try expression(try object.required(key), "\(object.place).\(key)")
  }

  // MARK: - Predicates

  static func predicate(_ value: JSONValue, _ place: String) throws(ModelReadingError) -> PredicateDescription {
    if case .boolean(let value) = value { return value ? .alwaysTrue : .alwaysFalse }
    var object = try SnapshotObject(value, place: place)
    let result: PredicateDescription
    if object.has("and") {
      result = .and(try object.list("and", predicate))
    } else if object.has("or") {
      result = .or(try object.list("or", predicate))
    } else if let part = object.take("not") {
      result = .not(try predicate(part, "\(place).not"))
    } else if let text = try object.string("unparsed") {
      result = .unparsed(text)
    } else {
      result = .comparison(try comparison(&object))
    }
    try object.finish()
    return result
  }

  private static func comparison(
    _ object: inout SnapshotObject
  ) throws(ModelReadingError) -> PredicateDescription.Comparison {
    let code = try object.integer("comparator")
    guard let comparator = code.flatMap(PredicateDescription.Comparator.init(rawValue:)),
      let modifier = PredicateDescription.Modifier(rawValue: try object.integer("modifier") ?? 0)
    else { throw SnapshotObject.unexpected("a predicate", object.place) }
    return PredicateDescription.Comparison(
      left: try required("left", of: &object), comparator: comparator, right: try required("right", of: &object),
      modifier: modifier, isCaseInsensitive: try object.flag("caseInsensitive"),
      isDiacriticInsensitive: try object.flag("diacriticInsensitive"), isNormalized: try object.flag("normalized"))
  }
}
