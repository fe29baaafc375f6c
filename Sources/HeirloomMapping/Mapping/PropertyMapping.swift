public import HeirloomModel

/// A mapping that gives one property of a destination entity its value.
public struct PropertyMapping: Hashable, Sendable {
  /// The name of the destination property.
  public var name: String
  /// The expression that gives the value; `nil` leaves the default of the destination model.
  ///
  /// It may use the variables `$manager`, `$source`, `$destination`, `$entityMapping`, `$propertyMapping` and
  /// `$entityPolicy`.
  public var valueExpression: ValueExpression?
  /// Free text for policies and expressions.
  public var userInfo: [String: String]

  /// Creates a property mapping.
  ///
  /// - Parameters:
  ///   - name: The name of the destination property.
  ///   - valueExpression: The expression that gives the value; `nil` leaves the default.
  ///   - userInfo: Free text for policies and expressions.
  public init(name: String, valueExpression: ValueExpression? = nil, userInfo: [String: String] = [:]) {
    self.name = name
    self.valueExpression = valueExpression
    self.userInfo = userInfo
  }

  /// Creates a mapping that copies an attribute's value, as inference does.
  ///
  /// - Parameters:
  ///   - name: The name of the destination attribute.
  ///   - sourceAttribute: The name of the source attribute.
  public init(name: String, copying sourceAttribute: String) {
    self.init(name: name, valueExpression: .sourceValue(forKey: sourceAttribute))
  }

  /// Creates a mapping that copies the links of a relationship, as inference does.
  ///
  /// - Parameters:
  ///   - name: The name of the destination relationship.
  ///   - sourceRelationship: The name of the source relationship.
  public init(name: String, linksOf sourceRelationship: String) {
    self.init(name: name, valueExpression: .destinationInstances(forSourceRelationship: sourceRelationship))
  }
}

extension PropertyMapping {
  /// Creates a mapping that leaves the default of the destination model, or no links.
  ///
  /// - Parameter name: The name of the destination property.
  public init(_ name: String) {
    self.init(name: name)
  }

  /// Creates a mapping that copies an attribute's value, converted where inference can convert it.
  ///
  /// - Parameters:
  ///   - name: The name of the destination attribute.
  ///   - sourceAttribute: The name of the source attribute.
  public init(_ name: String, copying sourceAttribute: String) {
    self.init(name: name, copying: sourceAttribute)
  }

  /// Creates a mapping that gives every object the same value.
  ///
  /// - Parameters:
  ///   - name: The name of the destination attribute.
  ///   - value: The value; `nil` for none.
  public init(_ name: String, constant value: AttributeValue?) {
    self.init(name: name, valueExpression: .constant(value.map { .value($0) } ?? .null))
  }

  /// Creates a mapping that evaluates an expression.
  ///
  /// Names refer to the source object: `uppercase:(name)`, `price * 2`, `owner.name`. A text that can't be parsed is an
  /// obstacle that names the mapping and the property; see ``MappingMismatch``.
  ///
  /// - Parameters:
  ///   - name: The name of the destination property.
  ///   - text: The expression as format text.
  public init(_ name: String, expression text: String) {
    self.init(name: name, valueExpression: ValueExpression(keeping: text))
  }

  /// Creates a mapping that links to the destination objects of those that a source relationship refers to.
  ///
  /// - Parameters:
  ///   - name: The name of the destination relationship.
  ///   - sourceRelationship: The name of the source relationship.
  ///   - entityMapping: The name of an entity mapping, to link only to the objects that it created.
  public init(_ name: String, linksOf sourceRelationship: String, through entityMapping: String? = nil) {
    guard let entityMapping else {
      self.init(name: name, linksOf: sourceRelationship)
      return
    }
    self.init(
      name: name,
      valueExpression: .function(
        operand: .variable("manager"), selector: ValueExpression.entityMappingSelector,
        arguments: [
          .constant(.value(.string(entityMapping))), .keyPath(operand: .variable("source"), path: sourceRelationship),
        ]))
  }
}

extension PropertyMapping {
  /// For an attribute that was added on the path; its own default needs no expression.
  init(name: String, initially value: AttributeValue?, _ attribute: AttributeDescription) {
    let isDefault = value == attribute.defaultValue || attribute.composite != nil
    self.init(name: name, valueExpression: isDefault ? nil : .constant(value.map { .value($0) } ?? .null))
  }

  package init(name: String, copying sourceAttribute: String, filling value: AttributeValue) {
    let copied = ValueExpression.sourceValue(forKey: sourceAttribute)
    self.init(
      name: name,
      valueExpression: .conditional(
        predicate: .comparison(.init(left: copied, comparator: .equal, right: .constant(.null))),
        then: .constant(.value(value)), otherwise: copied))
  }
}

extension PropertyMapping {
  init(name: String, copying sourceAttribute: String, through steps: [ValueStep]) {
    let steps = steps.map { step -> ValueExpression in
      switch step {
      case .converted(let type): .constant(.value(.integer(Int64(type.rawValue))))
      case .filled(let value): .aggregate([.constant(.value(value))])
      }
    }
    self.init(
      name: name,
      valueExpression: .function(
        operand: nil, selector: ValueStep.selector,
        arguments: [.sourceValue(forKey: sourceAttribute), .aggregate(steps)]))
  }
}

/// A change to a value on a path through several versions.
package enum ValueStep: Hashable, Sendable {
  case converted(AttributeType)
  /// Replaces NULL.
  case filled(AttributeValue)

  static let selector: String = "convert:throughSteps:"

  fileprivate init?(_ expression: ValueExpression) {
    switch expression {
    case .constant(.value(.integer(let code))):
      guard let type = Int(exactly: code).flatMap({ AttributeType(rawValue: $0) }) else { return nil }
      self = .converted(type)
    case .aggregate(let values):
      guard values.count == 1, case .constant(.value(let value)) = values[0] else { return nil }
      self = .filled(value)
    default: return nil
    }
  }
}

extension PropertyMapping {
  package enum Form: Hashable, Sendable {
    case defaultValue
    /// A copy, converted if the types differ.
    case attribute(String)
    case filledAttribute(String, AttributeValue)
    /// A copy with the conversions and default values of the versions between, in order.
    case steppedAttribute(String, [ValueStep])
    /// `nil` for NULL.
    case constant(AttributeValue?)
    case links(relationship: String)
    /// Only to objects that the named entity mapping created.
    case linksThroughMapping(entityMapping: String, relationship: String)
    case expression(ValueExpression)
  }

  /// A planner runs all forms but `expression` as SQL.
  package var form: Form {
    guard let valueExpression else { return .defaultValue }
    if let key = valueExpression.keyOfSource { return .attribute(key) }
    switch valueExpression {
    case .constant(.null): return .constant(nil)
    case .constant(.value(let value)): return .constant(value)
    case .conditional(.comparison(let comparison), .constant(.value(let value)), let copied):
      guard let key = copied.keyOfSource, comparison == .init(left: copied, comparator: .equal, right: .constant(.null))
      else { return .expression(valueExpression) }
      return .filledAttribute(key, value)
    case .function(nil, ValueStep.selector, let arguments):
      guard arguments.count == 2, let key = arguments[0].keyOfSource, case .aggregate(let elements) = arguments[1]
      else {
        return .expression(valueExpression)
      }
      let steps = elements.compactMap { ValueStep($0) }
      return steps.count == elements.count ? .steppedAttribute(key, steps) : .expression(valueExpression)
    default: break
    }
    guard case .function(.variable("manager"), let selector, let arguments) = valueExpression, arguments.count == 2,
      case .constant(.value(.string(let name))) = arguments[0], let key = arguments[1].keyOfSource
    else { return .expression(valueExpression) }
    switch selector {
    case ValueExpression.relationshipSelector where name == key: return .links(relationship: key)
    case ValueExpression.entityMappingSelector: return .linksThroughMapping(entityMapping: name, relationship: key)
    default: return .expression(valueExpression)
    }
  }
}
