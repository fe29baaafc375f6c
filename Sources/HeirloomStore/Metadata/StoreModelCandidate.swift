package import HeirloomModel

/// A model that may have made a store.
package struct StoreModelCandidate: Sendable {
  /// The origin of a model.
  package enum Source: Hashable, Sendable {
    /// The snapshot beside the store.
    case snapshot
    /// A file of the given name.
    case file(String)
    /// The store's own copy.
    case cache
  }

  /// The model's origin.
  package let source: Source
  /// The model; `nil` if it can't be read.
  package let model: ManagedObjectModel?
  /// The reason why it can't be read; `nil` if it was read.
  package let problem: String?
  /// True if this model was explicitly named for the store.
  package let isGiven: Bool

  /// Creates one for a model that was read.
  package init(source: Source, model: ManagedObjectModel, isGiven: Bool = false) {
    self.source = source
    self.model = model
    self.isGiven = isGiven
    problem = nil
  }

  /// Creates one for a model that can't be read.
  package init(source: Source, problem: String) {
    self.source = source
    model = nil
    isGiven = false
    self.problem = problem
  }
}

extension StoreModelCandidate.Source: CustomStringConvertible {
  /// The origin's name within a sentence.
  package var description: String {
    switch self {
    case .snapshot: "the snapshot beside the store"
    case .file(let name): "the model \(name)"
    case .cache: "the store's own copy of its model"
    }
  }
}
