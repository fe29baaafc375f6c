/// The facts about a store that the page about its migration shows.
package struct StoreFacts {
  let path: String
  /// `nil` if it is unknown.
  let versionName: String?
  /// As text; `nil` to leave it out.
  let origin: String?
  /// `nil` for all entities.
  let configuration: String?
  let entityCount: Int
  let rowCount: Int64
  /// One phrase each.
  let deferred: [String]
  /// Irregularities, as phrases.
  let notes: [String]
  let findingCounts: String
  /// The worst first.
  let findings: [(isError: Bool, text: String)]

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
