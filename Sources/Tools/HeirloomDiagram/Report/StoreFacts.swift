/// The facts about a store that the page about its migration shows.
package struct StoreFacts {
  let path: String
  /// The name of the store's version; `nil` if it is unknown.
  let versionName: String?
  /// The origin of the store's model, as text; `nil` to leave it out.
  let origin: String?
  /// The configuration of the model whose entities the store holds; `nil` for all entities.
  let configuration: String?
  let entityCount: Int
  let rowCount: Int64
  /// The clean-up left by a deferred migration, one phrase each.
  let deferred: [String]
  /// The irregularities of the store, as phrases.
  let notes: [String]
  /// The number of a verification's findings, as text.
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
