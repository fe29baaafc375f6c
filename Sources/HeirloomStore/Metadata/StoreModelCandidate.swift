package import HeirloomModel

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
