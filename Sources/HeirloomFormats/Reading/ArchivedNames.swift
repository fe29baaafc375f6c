/// Names of Apple's classes in models, which aren't the app's.
enum ArchivedNames {
  static let defaultObjectClass = "NSManagedObject"

  /// As in model sources.
  static let fetchedPropertyRequest = "fetchedPropertyFetchRequest"

  static let builtInFunctions = "_NSPredicateUtilities"
}
