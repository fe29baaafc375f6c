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

/// A model that may have made a store, from elsewhere than the store.
package struct StoreModelCandidate: Sendable {
  /// Where a model comes from.
  package enum Source: Hashable, Sendable {
    /// The snapshot beside the store.
    case snapshot
    /// A file of the given name.
    case file(String)
    /// The store's own copy.
    case cache
  }

  /// Where it comes from.
  package let source: Source
  /// The model; `nil` if it can't be read.
  package let model: ManagedObjectModel?
  /// Why it can't be read.
  package let problem: String?
  /// Whether somebody named this model for the store.
  package let isGiven: Bool

  /// Creates a candidate that was read.
  package init(source: Source, model: ManagedObjectModel, isGiven: Bool = false) {
    self.source = source
    self.model = model
    self.isGiven = isGiven
    problem = nil
  }

  /// Creates a candidate that can't be read.
  package init(source: Source, problem: String) {
    self.source = source
    model = nil
    isGiven = false
    self.problem = problem
  }
}

extension StoreModelCandidate.Source: CustomStringConvertible {
  /// What the source is called in a sentence.
  package var description: String {
    switch self {
    case .snapshot: "the snapshot beside the store"
    case .file(let name): "the model \(name)"
    case .cache: "the store's own copy of its model"
    }
  }
}
