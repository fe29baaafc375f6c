/// The facts about a store for a page about its migration.
package struct StoreFacts {
  /// The store's file.
  let path: String
  /// The name of the store's version, if it is known.
  let versionName: String?
  /// The origin of the store's model, in words; `nil` if it is not worth a word.
  let origin: String?
  /// The configuration of the model whose entities the store holds; `nil` for all.
  let configuration: String?
  /// The number of entities.
  let entityCount: Int
  /// The number of objects.
  let rowCount: Int64
  /// The clean-up that a deferred migration left for later, one phrase each.
  let deferred: [String]
  /// The oddities of the store, in phrases.
  let notes: [String]
  /// The number of findings of a verification, in words.
  let findingCounts: String
  /// The findings of a verification, the worst first.
  let findings: [(isError: Bool, text: String)]

  /// Creates facts.
  package init(
    path: String, versionName: String?, origin: String?, configuration: String?, entityCount: Int, rowCount: Int64,
    deferred: [String], notes: [String], findingCounts: String, findings: [(isError: Bool, text: String)]
  ) {
    self.path = path
    self.versionName = versionName
    self.origin = origin
    self.configuration = configuration
    self.entityCount = entityCount
    self.rowCount = rowCount
    self.deferred = deferred
    self.notes = notes
    self.findingCounts = findingCounts
    self.findings = findings
  }
}
