/// A store, as a page about its migration describes it.
package struct StoreFacts {
  /// The store's file.
  let path: String
  /// The version's name, if the store's model is a known version.
  let versionName: String?
  /// The place where its model was found, in words, if that is worth a word.
  let origin: String?
  /// The configuration of the model whose entities the store holds; `nil` for all.
  let configuration: String?
  /// The number of entities.
  let entityCount: Int
  /// The number of objects.
  let rowCount: Int64
  /// The things that a deferred migration left to be cleaned up, one phrase each.
  let deferred: [String]
  /// The oddities, in sentences.
  let notes: [String]

  /// Creates facts.
  package init(
    path: String, versionName: String?, origin: String?, configuration: String?, entityCount: Int, rowCount: Int64,
    deferred: [String], notes: [String]
  ) {
    self.path = path
    self.versionName = versionName
    self.origin = origin
    self.configuration = configuration
    self.entityCount = entityCount
    self.rowCount = rowCount
    self.deferred = deferred
    self.notes = notes
  }
}
