/// A class that makes the objects of an entity mapping in code: `EntityMigrationPolicy` or a subclass of it.
///
/// A mapping model is a value of a module without stores; it knows of a policy only that one can be made.
public protocol EntityMappingPolicy: AnyObject, SendableMetatype {
  /// Creates a policy for one entity mapping of one migration.
  init()
}

/// A policy's class as a value.
package struct PolicyClass: Sendable {
  /// The class.
  package let type: any EntityMappingPolicy.Type

  /// Creates a value for a class.
  package init(_ type: any EntityMappingPolicy.Type) {
    self.type = type
  }

  /// The class's name, for messages.
  package var name: String { String(describing: type) }
}

extension PolicyClass: Hashable {
  /// Tells whether two values are the same class, whatever the names.
  package static func == (left: PolicyClass, right: PolicyClass) -> Bool {
    ObjectIdentifier(left.type) == ObjectIdentifier(right.type)
  }

  /// Hashes the class.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type))
  }
}
