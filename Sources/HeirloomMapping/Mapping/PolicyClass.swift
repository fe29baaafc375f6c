/// A class that creates the objects of an entity mapping in code: `EntityMigrationPolicy` or a subclass of it.
///
/// This module has no stores, so the protocol requires only that a policy can be created.
public protocol EntityMappingPolicy: AnyObject, SendableMetatype {
  /// Creates a policy for one entity mapping of one migration.
  init()
}

package struct PolicyClass: Sendable {
  package let type: any EntityMappingPolicy.Type

  package init(_ type: any EntityMappingPolicy.Type) {
    self.type = type
  }

  package var name: String { String(describing: type) }
}

extension PolicyClass: Hashable {
  /// Names are not compared.
  package static func == (left: PolicyClass, right: PolicyClass) -> Bool {
    ObjectIdentifier(left.type) == ObjectIdentifier(right.type)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type))
  }
}
