package import HeirloomModel

/// Which of several models made a store.
package enum ModelIdentification: Sendable {
  /// The model, and the name of where it came from.
  case found(ManagedObjectModel, source: String)
  /// None of them: how far each is from the store, the nearest first.
  case unknown(nearest: [Distance])

  /// A model that may have made the store.
  package struct Candidate {
    /// Where it comes from, for messages.
    package let source: String
    /// Reads it, only when its turn comes; `nil` if there is none after all.
    package let model: () throws -> ManagedObjectModel?

    /// Creates a candidate.
    package init(source: String, model: @escaping () throws -> ManagedObjectModel?) {
      self.source = source
      self.model = model
    }
  }

  /// How far a model is from a store.
  package struct Distance: Hashable, Sendable {
    /// Where the model comes from.
    package let source: String
    /// The model's version identifiers.
    package let versionIdentifiers: [String]
    /// The number of entities with equal hashes.
    package let equalCount: Int
    /// Entities of both with different hashes, sorted.
    package let different: [String]
    /// Entities of the store that the model lacks, sorted.
    package let onlyInStore: [String]
    /// Entities of the model that the store lacks, sorted.
    package let onlyInModel: [String]

    /// The number of entities that are not alike.
    package var differenceCount: Int { different.count + onlyInStore.count + onlyInModel.count }
  }

  /// Tries candidates one after the other.
  ///
  /// A candidate that can't be read is passed over: another may fit.
  ///
  /// - Parameters:
  ///   - metadata: The store's metadata.
  ///   - configuration: The configuration whose entities the store holds.
  ///   - candidates: The candidates, in the order in which they are believed.
  package init(
    of metadata: StoreMetadata, configuration: String? = nil, among candidates: some Sequence<Candidate>
  ) {
    var distances: [Distance] = []
    for candidate in candidates {
      guard let model = try? candidate.model() else { continue }
      if metadata.isCompatible(with: model, configuration: configuration) {
        self = .found(model, source: candidate.source)
        return
      }
      distances.append(
        Distance(candidate.source, of: model, configuration: configuration, from: metadata))
    }
    // Of two that are equally far, the one that was believed first.
    let order = distances.indices.sorted { left, right in
      (distances[left].differenceCount, left) < (distances[right].differenceCount, right)
    }
    self = .unknown(nearest: order.map { distances[$0] })
  }
}

extension ModelIdentification.Distance {
  fileprivate init(
    _ source: String, of model: ManagedObjectModel, configuration: String?, from metadata: StoreMetadata
  ) {
    let names = Set((model.entities(inConfiguration: configuration) ?? []).map(\.name))
    let stored = Set(metadata.versionHashes.keys)
    let differing = Set(metadata.differingEntities(from: model, configuration: configuration))
    func sorted(_ names: Set<String>) -> [String] { names.sorted { $0.utf16Precedes($1) } }
    self.source = source
    versionIdentifiers = model.versionIdentifiers
    let common = names.intersection(stored)
    equalCount = common.subtracting(differing).count
    different = sorted(common.intersection(differing))
    onlyInStore = sorted(stored.subtracting(names))
    onlyInModel = sorted(names.subtracting(stored))
  }
}
