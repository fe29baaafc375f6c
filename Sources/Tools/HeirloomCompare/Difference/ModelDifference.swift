package import HeirloomMapping
package import HeirloomModel

/// Computed from the models alone, without reading a store.
package struct ModelDifference: Sendable {
  /// Raw values are stable.
  package enum Verdict: String, Hashable, Sendable, CaseIterable {
    case identical
    /// Differences that a store doesn't record: entity names and version hashes are equal.
    case compatible
    /// A migration is needed, and its mapping can be inferred.
    case lightweight
    /// A migration is needed, and its mapping must be given.
    case needsMapping
  }

  package let verdict: Verdict
  /// Sorted by entity, then property; those of the model as a whole come first.
  package let changes: [ModelChange]
  /// Sorted by entity and property; none if no mapping is needed.
  package let obstacles: [MappingObstacle]
  /// The losses, blockers and warnings that rows may cause; none if no mapping is needed.
  package let effects: [DataEffect]
  /// Possible renames and other suspicious matches, sorted by entity and property.
  package let diagnostics: [MatchingDiagnostic]
  /// Exists even if no migration is needed.
  package let inference: MappingInference

  package init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    let inference = MappingInference(from: source, to: destination)
    let builder = DifferenceBuilder(inference: inference)
    let changes = builder.build()
    if inference.sourceHashes == inference.destinationHashes {
      verdict = changes.isEmpty ? .identical : .compatible
      // The store is compatible with both models, so it isn't migrated and no row changes.
      self.changes = changes.map(\.withoutEffect)
      obstacles = []
      effects = []
    } else {
      verdict = inference.obstacles.isEmpty ? .lightweight : .needsMapping
      self.changes = changes
      obstacles = inference.obstacles
      effects = inference.effects
    }
    diagnostics = inference.correspondence.diagnostics(
      isMigrated: inference.sourceHashes != inference.destinationHashes)
    self.inference = inference
  }

  package var source: ManagedObjectModel { inference.source }

  package var destination: ManagedObjectModel { inference.destination }
}
