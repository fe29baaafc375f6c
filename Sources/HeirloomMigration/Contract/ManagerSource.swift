import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The value of `$manager` and `$entityPolicy` in an expression, on which functions are called.
struct ManagerSource: ValueSource {
  let valueIdentity: AnyHashable = "manager"

  func value(forKey key: String) -> EvaluatedValue? { nil }

  static let selectors = [
    ValueExpression.entityMappingSelector, ValueExpression.relationshipSelector, sourceInstancesSelector,
  ]

  static let sourceInstancesSelector = "sourceInstancesForEntityMappingNamed:destinationInstances:"
}

/// The value of `$entityMapping` and `$propertyMapping` in an expression.
struct MappingSource: ValueSource {
  private let values: [String: EvaluatedValue]
  let valueIdentity: AnyHashable

  init(_ mapping: EntityMapping) {
    self.init(
      identity: mapping.name, userInfo: mapping.userInfo,
      [
        "name": .string(mapping.name),
        "sourceEntityName": mapping.sourceEntityName.map { .string($0) } ?? .null,
        "destinationEntityName": mapping.destinationEntityName.map { .string($0) } ?? .null,
      ])
  }

  init(_ mapping: PropertyMapping) {
    self.init(identity: mapping.name, userInfo: mapping.userInfo, ["name": .string(mapping.name)])
  }

  private init(identity: String, userInfo: [String: String], _ values: [String: EvaluatedValue]) {
    valueIdentity = identity
    var values = values
    values["userInfo"] = .object(UserInfoSource(userInfo: userInfo))
    self.values = values
  }

  func value(forKey key: String) -> EvaluatedValue? { values[key] }
}

/// A missing key is NULL.
private struct UserInfoSource: ValueSource {
  let userInfo: [String: String]
  var valueIdentity: AnyHashable { userInfo }

  func value(forKey key: String) -> EvaluatedValue? { userInfo[key].map { .string($0) } ?? .null }
}

extension EvaluatedValue {
  /// Numbers are converted to the attribute's type if that loses nothing.
  func fitted(to attribute: AttributeDescription) throws -> AttributeValue? {
    let found: AttributeValue?
    switch self {
    case .null: return nil
    case .value(let value): found = value
    // A composite attribute of an object is identified by the values of its elements.
    case .object(let source): found = (source.valueIdentity.base as? [String: AttributeValue]).map { .composite($0) }
    case .list: found = nil
    }
    if let fitted = found?.fitted(to: attribute) { return fitted }
    throw MigrationManagerError.unfitValue(property: attribute.name, expected: attribute.type.name)
  }
}
