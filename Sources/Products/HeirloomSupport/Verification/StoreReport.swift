public import HeirloomModel
public import HeirloomStore

/// The result of the verification of a store.
public struct StoreReport: Sendable {
  /// The findings, the worst first, those of one severity in the order of the checks.
  public package(set) var findings: [StoreFinding]
  /// The store's metadata, as far as they can be read.
  public internal(set) var metadata: StoreMetadata?
  /// The model that the schema and the rows were compared with; `nil` if there was none.
  public internal(set) var model: ManagedObjectModel?
  /// The configuration of the model whose entities the store holds; `nil` for all.
  public internal(set) var configuration: String?
  package var modelSource: StoreModelCandidate.Source?
  /// True if the model's hashes are those of the metadata.
  public internal(set) var isModelFit: Bool = false

  /// True if something is wrong: notes alone are not faults.
  public var hasFaults: Bool { findings.contains { $0.severity < .note } }

  package mutating func add(_ others: [StoreFinding]) {
    findings += others
    sort()
  }

  mutating func sort() {
    let order = findings.indices.ordered { left, right in
      (findings[left].severity, left) < (findings[right].severity, right)
    }
    findings = order.map { findings[$0] }
  }
}
