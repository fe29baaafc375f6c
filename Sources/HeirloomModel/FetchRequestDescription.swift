/// A fetch in a model: a template, or the source of a fetched property.
public struct FetchRequestDescription: Hashable, Sendable {
  /// The template's name; for a fetched property `fetchedPropertyFetchRequest`.
  public var name: String
  /// The name of the fetched entity.
  public var entityName: String
  /// The condition on the objects; `nil` for all.
  public var predicate: PredicateDescription?
  /// The order of the objects.
  public var sortDescriptors: [SortDescription] = []
  /// The kind of result.
  public var resultType: ResultType = .managedObjects
  /// The maximum number of objects; 0 for no limit.
  public var fetchLimit: Int = 0
  /// The number of objects skipped first.
  public var fetchOffset: Int = 0
  /// The number of objects loaded at a time; 0 for all.
  public var fetchBatchSize: Int = 0
  /// True when objects of subentities are included.
  public var includesSubentities: Bool = true
  /// True when property values are loaded with the objects.
  public var includesPropertyValues: Bool = true
  /// True when unsaved changes are included.
  public var includesPendingChanges: Bool = true
  /// True when objects are returned without their values.
  public var returnsObjectsAsFaults: Bool = true
  /// True when equal dictionaries are returned once.
  public var returnsDistinctResults: Bool = false
  /// The names of the properties of a dictionary result.
  public var propertiesToFetch: [String] = []
  /// The names of the properties that group a dictionary result.
  public var propertiesToGroupBy: [String] = []
  /// The condition on groups.
  public var havingPredicate: PredicateDescription?
  /// The key paths of relationships that are loaded with the objects.
  public var relationshipKeyPathsForPrefetching: [String] = []

  /// The kind of result that a fetch returns.
  ///
  /// Raw values are the codes of model archives.
  public enum ResultType: Int, Hashable, Sendable {
    /// Objects.
    case managedObjects = 0
    /// Object identifiers.
    case managedObjectIDs = 1
    /// Dictionaries.
    case dictionaries = 2
    /// A count.
    case count = 4
  }

  /// Creates a fetch of all objects of an entity.
  public init(name: String, entityName: String) {
    self.name = name
    self.entityName = entityName
  }
}

/// One key of a sort order.
public struct SortDescription: Hashable, Sendable {
  /// The key path to compare.
  public var keyPath: String
  /// True when smaller values come first.
  public var ascending: Bool

  /// Creates a sort key.
  public init(keyPath: String, ascending: Bool = true) {
    self.keyPath = keyPath
    self.ascending = ascending
  }
}
