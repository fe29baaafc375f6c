/// The common features of attributes, relationships and fetched properties.
public protocol PropertyDescription: Hashable, Sendable {
  /// The property's name, unique within its entity and that entity's ancestors.
  var name: String { get }
  /// True when an object is valid without a value.
  var isOptional: Bool { get }
  /// True when the value is only in memory and has no column.
  var isTransient: Bool { get }
  /// The identifier that matches this property with one of another version, if it is not the name.
  var renamingIdentifier: String? { get }
  /// Text that changes the version hash on purpose.
  var versionHashModifier: String? { get }
  /// True when Spotlight indexes the property.
  var isIndexedBySpotlight: Bool { get }
  /// Free text for the app.
  var userInfo: [String: String] { get }
}

extension PropertyDescription {
  /// The identifier that matches versions of the property: the renaming identifier, else the name.
  public var canonicalIdentifier: String { renamingIdentifier ?? name }
}
