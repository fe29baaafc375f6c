public import HeirloomModel

/// Everything that differs between two models, what it does to rows, and whether a migration can be inferred.
///
/// It is made from the models alone: no store is asked.
public struct ModelDifference: Hashable, Sendable {
  /// What a difference comes to; raw values are stable.
  public enum Verdict: String, Hashable, Sendable, CaseIterable {
    /// Nothing differs.
    case identical
    /// Only what stores don't know differs: entity names and version hashes are equal.
    case compatible
    /// A migration is needed, and its mapping can be inferred.
    case lightweight
    /// A migration is needed, and somebody must say how.
    case needsMapping
  }

  /// What the difference comes to.
  public let verdict: Verdict
  /// The changes, sorted by entity, then property; those of the model as a whole come first.
  public let changes: [ModelChange]
  /// Everything that stands in the way of a mapping, sorted by entity and property; nothing if none is needed.
  public let obstacles: [MappingObstacle]
  /// What the rows must be asked about, sorted by entity and property; nothing if no mapping is needed.
  public let hazards: [DataHazard]
  /// Matches that were perhaps meant but not made, sorted by entity and property.
  public let diagnostics: [MatchingDiagnostic]
  /// The mapping, for a migration that is made although none is needed as well.
  public let inference: MappingInference

  /// Compares two models.
  public init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    let inference = MappingInference(from: source, to: destination)
    var builder = DifferenceBuilder(inference: inference)
    let changes = builder.build()
    if inference.sourceHashes == inference.destinationHashes {
      verdict = changes.isEmpty ? .identical : .compatible
      // A store fits both models, so that it isn't migrated and no row changes.
      self.changes = changes.map(\.withoutEffect)
      obstacles = []
      hazards = []
    } else {
      verdict = inference.obstacles.isEmpty ? .lightweight : .needsMapping
      self.changes = changes
      obstacles = inference.obstacles
      hazards = inference.hazards
    }
    diagnostics = inference.correspondence.diagnostics()
    self.inference = inference
  }

  /// The model that things come from.
  public var source: ManagedObjectModel { inference.source }

  /// The model that things become part of.
  public var destination: ManagedObjectModel { inference.destination }
}
