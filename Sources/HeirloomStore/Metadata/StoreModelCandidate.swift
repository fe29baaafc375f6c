package import HeirloomModel

/// A model that may have made a store.
package struct StoreModelCandidate: Sendable {
  package enum Source: Hashable, Sendable {
    case snapshot
    case file(String)
    case cache
  }

  package let source: Source
  package let model: ManagedObjectModel?
  /// The reason why the model can't be read.
  package let problem: String?
  /// Explicitly named for the store.
  package let isGiven: Bool

  package init(source: Source, model: ManagedObjectModel, isGiven: Bool = false) {
    self.source = source
    self.model = model
    self.isGiven = isGiven
    problem = nil
  }

  package init(source: Source, problem: String) {
    self.source = source
    model = nil
    isGiven = false
    self.problem = problem
  }
}

extension StoreModelCandidate.Source: CustomStringConvertible {
  package var description: String {
    switch self {
    case .snapshot: "the snapshot beside the store"
    case .file(let name): "the model \(name)"
    case .cache: "the store's own copy of its model"
    }
  }
}
