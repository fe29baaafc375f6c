package import HeirloomModel

extension ValueExpression {
  package static let relationshipSelector = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  package static let entityMappingSelector = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  package static let fetchRequestSelector = "fetchRequestForSourceEntityNamed:predicateString:"

  /// `FUNCTION($source, "valueForKey:", key)`, the form in inferred mappings.
  package static func sourceValue(forKey key: String) -> ValueExpression {
    .function(operand: .variable("source"), selector: "valueForKey:", arguments: [.constant(.value(.string(key)))])
  }

  package static func destinationInstances(forSourceRelationship relationship: String) -> ValueExpression {
    .function(
      operand: .variable("manager"), selector: relationshipSelector,
      arguments: [
        .constant(.value(.string(relationship))), .keyPath(operand: .variable("source"), path: relationship),
      ])
  }

  /// The form in compiled mapping models.
  package static func sourceRows(ofEntity entity: String, predicate: String = "TRUEPREDICATE") -> ValueExpression {
    .fetch(
      request: .function(
        operand: .variable("manager"), selector: fetchRequestSelector,
        arguments: [.constant(.value(.string(entity))), .constant(.value(.string(predicate)))]),
      context: .keyPath(operand: .variable("manager"), path: "sourceContext"), countOnly: false)
  }

  /// Of `$source.key` and `FUNCTION($source, "valueForKey:", "key")`; longer key paths don't count.
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
  fileprivate var isPlainKey: Bool {
    !isEmpty && !utf8.contains(UInt8(ascii: ".")) && !utf8.contains(UInt8(ascii: "@"))
  }
}
