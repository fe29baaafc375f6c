package import HeirloomModel

/// What a verification found out about a store.
package struct StoreReport: Sendable {
  /// The findings, the worst first, those of one severity in the order of the checks.
  package var findings: [StoreFinding]
  /// What the store says of itself, as far as it can be read.
  package var metadata: StoreMetadata?
  /// The model that the schema and the rows were held against; `nil` if there was none.
  package var model: ManagedObjectModel?
  /// The configuration of the model whose entities the store holds; `nil` for all.
  package var configuration: String?
  /// Where the model came from; `nil` if there was none.
  package var modelSource: StoreModelCandidate.Source?
  /// Whether the model's hashes are those of the metadata.
  package var isModelFit: Bool = false

  /// Whether something is wrong: notes alone are no fault.
  package var hasFaults: Bool { findings.contains { $0.severity < .note } }

  /// Adds findings of others and keeps the order.
  package mutating func add(_ others: [StoreFinding]) {
    findings += others
    sort()
  }

  /// Puts the worst first.
  mutating func sort() {
    let order = findings.indices.sorted { left, right in
      (findings[left].severity, left) < (findings[right].severity, right)
    }
    findings = order.map { findings[$0] }
  }
}
