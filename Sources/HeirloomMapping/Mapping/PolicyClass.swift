/// A class that creates the objects of an entity mapping in code: `EntityMigrationPolicy` or a subclass of it.
///
/// This module has no stores, so the protocol requires only that a policy can be created.
public protocol EntityMappingPolicy: AnyObject, SendableMetatype {
  /// Creates a policy for one entity mapping of one migration.
  init()
}

/// A policy's class as a value.
package struct PolicyClass: Sendable {
  /// The class.
  package let type: any EntityMappingPolicy.Type

  /// Creates a value for a policy's class.
  package init(_ type: any EntityMappingPolicy.Type) {
    self.type = type
  }

  /// The class's name, for messages.
  package var name: String { String(describing: type) }
}

extension PolicyClass: Hashable {
  /// Returns true if both values are the same class; names are not compared.
  package static func == (left: PolicyClass, right: PolicyClass) -> Bool {
    ObjectIdentifier(left.type) == ObjectIdentifier(right.type)
  }

  /// Hashes the class's identity.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type))
  }
}
