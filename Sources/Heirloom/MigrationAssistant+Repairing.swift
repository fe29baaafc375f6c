public import Foundation

extension MigrationAssistant {
  /// Sets the damaged record of an unfinished operation aside, and settles what the operation left.
  ///
  /// Such a record stops every migration with the code `unfitLocation`, since it alone says what was under way. The store is
  /// whole all the same, as it was before or as it is after. Call this once a person has agreed to go on. The store and
  /// its previous versions stay as they are, and so does the record, under another name beside them.
  ///
  /// - Returns: The record's new place; `nil` when there was nothing to repair.
  /// - Throws: ``MigrationAssistantError``; the store is as it was.
  @discardableResult
  public func repair() throws(MigrationAssistantError) -> URL? {
    do {
      return try vault().repair().map { URL(fileURLWithPath: $0) }
    } catch {
      throw wrapped(error)
    }
  }
}
