/// A property whose value is the result of a fetch.
public struct FetchedPropertyDescription: PropertyDescription {
  /// The property's name.
  public var name: String
  /// The fetch that returns the value.
  public var fetchRequest: FetchRequestDescription
  /// True when an object is valid without a value.
  public var isOptional: Bool = true
  /// The identifier that matches this property with one of another version, if it is not the name.
  public var renamingIdentifier: String?
  /// Text for the version hash, which has no effect: fetched properties are not hashed.
  public var versionHashModifier: String?
  /// True when Spotlight indexes the property.
  public var isIndexedBySpotlight: Bool = false
  /// Free text for the app.
  public var userInfo: [String: String] = [:]

  /// Creates a fetched property.
  public init(name: String, fetchRequest: FetchRequestDescription) {
    self.name = name
    self.fetchRequest = fetchRequest
  }

  /// True for every fetched property, since none has a column.
  public var isTransient: Bool { true }
}
