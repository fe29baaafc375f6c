import HeirloomModel

/// A reason why no mapping could be inferred: something about the two models, whatever the rows are.
public struct MappingObstacle: Hashable, Sendable {
  /// What stands in the way.
  public let kind: Kind
  /// The entity in the destination.
  public let entity: String
  /// The property in the destination, elements of composites as `composite.element`; `nil` for the entity itself.
  public let property: String?
  /// Why this can't be inferred, in a sentence.
  public let reason: String
  /// What to do about it, in a sentence.
  public let suggestion: String

  /// The code of Core Data's error for a failed inference.
  public static let coreDataCode: Int = 134_190

  /// What stands in the way; raw values are stable.
  @nonexhaustive
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Values of the source's type don't become values of the destination's.
    case incompatibleTypes
    /// Values kept in files beside the store would have to come back into it.
    case externalStorageDisabled
    /// Entities of two source hierarchies have come under one parent.
    case mergedHierarchies
    /// Several entities claim one identifier.
    case ambiguousEntity
    /// Several properties claim one identifier.
    case ambiguousProperty
    /// The objects that a relationship leads to did not become what it leads to now.
    case relationshipDestination
    /// An entity mapping that was given doesn't fit the models.
    case invalidMapping
  }

  /// Creates an obstacle.
  init(kind: Kind, entity: String, property: String? = nil, reason: String, suggestion: String) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.reason = reason
    self.suggestion = suggestion
  }
}

extension MappingObstacle {
  /// Creates the obstacle that a mapping model doesn't fit.
  ///
  /// - Parameters:
  ///   - mismatch: What doesn't fit.
  ///   - mapping: The mapping model.
  ///   - suggestion: What to do about it.
  init(_ mismatch: MappingMismatch, in mapping: MappingModel, suggestion: String) {
    let entityMapping = mapping.entityMapping(named: mismatch.entityMapping)
    self.init(
      kind: .invalidMapping,
      entity: entityMapping?.destinationEntityName ?? entityMapping?.sourceEntityName ?? mismatch.entityMapping,
      reason: mismatch.description, suggestion: suggestion)
  }
}

extension MappingObstacle: CustomStringConvertible {
  /// The reason and what to do about it.
  public var description: String { PlainText.line("\(reason) \(suggestion)") }
}

/// The failure to infer a mapping, with everything that stood in the way.
public struct MappingInferenceError: Error, Hashable, Sendable {
  /// The obstacles, sorted by entity and property; never empty.
  public let obstacles: [MappingObstacle]
  /// Swift source to start from; `nil` where the obstacles leave nothing to fill in.
  public let skeleton: MappingSkeleton?

  /// Creates an error.
  init(obstacles: [MappingObstacle], skeleton: MappingSkeleton?) {
    self.obstacles = obstacles
    self.skeleton = skeleton
  }
}

extension MappingInferenceError: CustomStringConvertible {
  /// How many obstacles there are and the reason of the first.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let reason = obstacles.first?.reason ?? ""
    return obstacles.count == 1
      ? "No mapping can be inferred: \(reason)"
      : "No mapping can be inferred for \(obstacles.count) reasons, the first being: \(reason)"
  }
}
