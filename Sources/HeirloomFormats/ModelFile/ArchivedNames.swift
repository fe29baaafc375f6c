/// Names of Apple's classes that models carry and that stand for nothing of the app's own.
enum ArchivedNames {
  /// The class of objects whose entity names none.
  static let defaultObjectClass = "NSManagedObject"
}
