package import HeirloomModel

extension ValueExpression {
  /// The manager's function that finds the destination objects of a source relationship's related objects.
  package static let relationshipSelector = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  /// The manager's function that finds destination objects by the entity mapping that created them.
  package static let entityMappingSelector = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  /// The manager's function that creates the fetch request for an entity mapping's source rows.
  package static let fetchRequestSelector = "fetchRequestForSourceEntityNamed:predicateString:"

  /// Returns `FUNCTION($source, "valueForKey:", key)`, the form in inferred mappings.
  package static func sourceValue(forKey key: String) -> ValueExpression {
    .function(operand: .variable("source"), selector: "valueForKey:", arguments: [.constant(.value(.string(key)))])
  }

  /// Returns the expression for the destination objects of those that a source relationship refers to.
  ///
  /// It is `FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", name, $source.name)`.
  package static func destinationInstances(forSourceRelationship relationship: String) -> ValueExpression {
    .function(
      operand: .variable("manager"), selector: relationshipSelector,
      arguments: [
        .constant(.value(.string(relationship))), .keyPath(operand: .variable("source"), path: relationship),
      ])
  }

  /// Returns the expression that fetches an entity mapping's source rows, as in compiled mapping models.
  package static func sourceRows(ofEntity entity: String, predicate: String = "TRUEPREDICATE") -> ValueExpression {
    .fetch(
      request: .function(
        operand: .variable("manager"), selector: fetchRequestSelector,
        arguments: [.constant(.value(.string(entity))), .constant(.value(.string(predicate)))]),
      context: .keyPath(operand: .variable("manager"), path: "sourceContext"), countOnly: false)
  }

  /// The key if this is `$source.key` or `FUNCTION($source, "valueForKey:", "key")`.
  ///
  /// Longer key paths and collection operators don't count.
  package var keyOfSource: String? {
    switch self {
    case .keyPath(.variable("source"), let path):
      path.isPlainKey ? path : nil
    case .function(.variable("source"), "valueForKey:", let arguments):
      if arguments.count == 1, case .constant(.value(.string(let key))) = arguments[0], key.isPlainKey {
        key
      } else {
        nil
      }
    default: nil
    }
  }

  /// The entity and the predicate text if this fetches the source rows of an entity mapping.
  package var sourceRows: (entity: String, predicate: String)? {
    guard
      case .fetch(.function(.variable("manager"), Self.fetchRequestSelector, let arguments), _, false) = self,
      arguments.count == 2, case .constant(.value(.string(let entity))) = arguments[0],
      case .constant(.value(.string(let predicate))) = arguments[1]
    else { return nil }
    return (entity, predicate)
  }
}

extension String {
  /// True when the text is one property name rather than a path or an operator.
  fileprivate var isPlainKey: Bool {
    !isEmpty && !utf8.contains(UInt8(ascii: ".")) && !utf8.contains(UInt8(ascii: "@"))
  }
}
