/// Names of Apple's classes that models carry and that stand for nothing of the app's own.
enum ArchivedNames {
  /// The class of objects whose entity names none.
  static let defaultObjectClass = "NSManagedObject"

  /// The name of the fetch request inside a fetched property, as model sources have it.
  static let fetchedPropertyRequest = "fetchedPropertyFetchRequest"

  /// The class that holds the built-in functions of expressions.
  static let builtInFunctions = "_NSPredicateUtilities"
}
