/// Names of Apple's classes in models, which aren't the app's.
enum ArchivedNames {
  /// The class of objects whose entity specifies none.
  static let defaultObjectClass = "NSManagedObject"

  /// The name of the fetch request inside a fetched property, as in model sources.
  static let fetchedPropertyRequest = "fetchedPropertyFetchRequest"

  /// The class of the built-in functions of expressions.
  static let builtInFunctions = "_NSPredicateUtilities"
}
