package import HeirloomModel

extension ValueExpression {
  /// The manager's function that finds destination objects by the source relationship that led to their sources.
  package static let relationshipSelector = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  /// The manager's function that finds destination objects by the entity mapping that made them.
  package static let entityMappingSelector = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  /// The manager's function that makes the fetch request of an entity mapping's source rows.
  package static let fetchRequestSelector = "fetchRequestForSourceEntityNamed:predicateString:"

  /// Returns the value of `$source` for a key, in the form that inferred mappings have.
  ///
  /// - Parameter key: The name of the source property.
  /// - Returns: `FUNCTION($source, "valueForKey:", key)`.
  package static func sourceValue(forKey key: String) -> ValueExpression {
    .function(operand: .variable("source"), selector: "valueForKey:", arguments: [.constant(.value(.string(key)))])
  }

  /// Returns the expression for the destination objects made from those that a source relationship leads to.
  ///
  /// - Parameter relationship: The name of the source relationship.
  /// - Returns: `FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", name,
  ///   $source.name)`.
  package static func destinationInstances(forSourceRelationship relationship: String) -> ValueExpression {
    .function(
      operand: .variable("manager"), selector: relationshipSelector,
      arguments: [
        .constant(.value(.string(relationship))), .keyPath(operand: .variable("source"), path: relationship),
      ])
  }

  /// Returns the expression for the rows of an entity mapping's source, as compiled mapping models fetch them.
  ///
  /// - Parameters:
  ///   - entity: The name of the source entity.
  ///   - predicate: The text of the condition on the rows.
  /// - Returns: A fetch of objects in the manager's source context.
  package static func sourceRows(ofEntity entity: String, predicate: String = "TRUEPREDICATE") -> ValueExpression {
    .fetch(
      request: .function(
        operand: .variable("manager"), selector: fetchRequestSelector,
        arguments: [.constant(.value(.string(entity))), .constant(.value(.string(predicate)))]),
      context: .keyPath(operand: .variable("manager"), path: "sourceContext"), countOnly: false)
  }

  /// The key if this is the value of `$source` for one: `$source.key` or `FUNCTION($source, "valueForKey:", "key")`.
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

  /// The entity and the condition's text if this fetches the source rows of an entity mapping.
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
  /// True when the text names one property rather than a path or an operator.
  fileprivate var isPlainKey: Bool {
    !isEmpty && !utf8.contains(UInt8(ascii: ".")) && !utf8.contains(UInt8(ascii: "@"))
  }
}
