/// A property whose value is the result of a fetch.
public struct FetchedPropertyDescription: PropertyDescription {
  /// The property's name.
  public var name: String
  /// The fetch that gives the value.
  public var fetchRequest: FetchRequestDescription
  /// True when an object is valid without a value.
  public var isOptional: Bool = true
  /// The identifier that ties this property to one of another version, if it is not the name.
  public var renamingIdentifier: String?
  /// Text that changes the version hash on purpose.
  ///
  /// Fetched properties do not enter the hash.
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
