/// A permanent identifier of one object of a store.
public struct ManagedObjectID: Hashable, Sendable {
  /// The store's identifier.
  public let storeIdentifier: String
  /// The name of the object's entity.
  public let entityName: String
  /// The primary key, unique among the objects of the entity's tree; counted from 1.
  public let primaryKey: Int64

  /// Creates an identifier.
  public init(storeIdentifier: String, entityName: String, primaryKey: Int64) {
    self.storeIdentifier = storeIdentifier
    self.entityName = entityName
    self.primaryKey = primaryKey
  }

  /// The identifier as Core Data writes it: `x-coredata://STORE/Entity/p1`.
  public var uriRepresentation: String {
    "x-coredata://\(storeIdentifier)/\(entityName)/p\(primaryKey)"
  }

  /// Creates an identifier from its text; `nil` if it has another form.
  ///
  /// - Parameter uriRepresentation: The text.
  public init?(uriRepresentation: String) {
    let prefix = "x-coredata://"
    guard uriRepresentation.hasPrefix(prefix) else { return nil }
    let parts = uriRepresentation.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty, parts[2].first == "p",
      let primaryKey = Int64(parts[2].dropFirst()), primaryKey > 0
    else { return nil }
    self.init(storeIdentifier: String(parts[0]), entityName: String(parts[1]), primaryKey: primaryKey)
  }
}
