import HeirloomModel

/// A reason in the two models, independent of rows, why no mapping could be inferred.
public struct MappingObstacle: Hashable, Sendable {
  /// The kind of obstacle.
  public let kind: Kind
  /// The entity in the destination; empty for the models as a whole.
  public let entity: String
  /// The property in the destination, elements of composites as `composite.element`; `nil` for the entity itself.
  public let property: String?
  /// The reason why this can't be inferred, in a sentence.
  public let reason: String
  /// The remedy, in a sentence.
  public let suggestion: String
  /// Converts the values of the source row, for a decision; `nil` for none.
  package let expression: String?

  /// The code of Core Data's error for a failed inference.
  public static let coreDataCode: Int = 134_190

  /// The kind of obstacle; raw values are stable.
  @nonexhaustive
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Values whose type can't be converted to the destination's type.
    case incompatibleTypes
    /// Values in files beside the store that would have to move back into it.
    case externalStorageDisabled
    /// Entities of two source hierarchies that now share a parent.
    case mergedHierarchies
    /// Several entities with the same identifier.
    case ambiguousEntity
    /// Several properties with the same identifier.
    case ambiguousProperty
    /// Related objects whose destination entity the relationship can't refer to.
    case relationshipDestination
    /// A given entity mapping that doesn't fit the models.
    case invalidMapping
    /// A custom stage whose code the app doesn't supply.
    case codeNeeded
  }

  init(
    kind: Kind, entity: String, property: String? = nil, reason: String, suggestion: String, expression: String? = nil
  ) {
    self.expression = expression
    self.kind = kind
    self.entity = entity
    self.property = property
    self.reason = reason
    self.suggestion = suggestion
  }
}

extension MappingObstacle {
  init(_ mismatch: MappingMismatch, in mapping: MappingModel, suggestion: String) {
    let entityMapping = mapping.entityMapping(named: mismatch.entityMapping)
    self.init(
      kind: .invalidMapping,
      entity: entityMapping?.destinationEntityName ?? entityMapping?.sourceEntityName ?? mismatch.entityMapping,
      reason: mismatch.description, suggestion: suggestion)
  }
}

extension MappingObstacle {
  package init(codeNeededFrom source: String, to destination: String) {
    self.init(
      kind: .codeNeeded, entity: "",
      reason: "The step from \"\(source)\" to \"\(destination)\" is a custom stage, whose code is missing.",
      suggestion: "Open the store with the app, whose code migrates it, or give a mapping for the step.")
  }
}

extension MappingObstacle: CustomStringConvertible {
  /// The reason and the remedy.
  public var description: String { PlainText.line("\(reason) \(suggestion)") }
}

/// The failure to infer a mapping, with all obstacles.
public struct MappingInferenceError: Error, Hashable, Sendable {
  /// The obstacles, sorted by entity and property; never empty.
  public let obstacles: [MappingObstacle]
  /// Swift source of a mapping to complete; `nil` where the obstacles need no mapping.
  public let skeleton: String?

  init(obstacles: [MappingObstacle], skeleton: String?) {
    self.obstacles = obstacles
    self.skeleton = skeleton
  }
}

extension MappingInferenceError: CustomStringConvertible {
  /// The number of obstacles and the reason of the first.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let reason = obstacles.first?.reason ?? ""
    return obstacles.count == 1
      ? "No mapping can be inferred: \(reason)"
      : "No mapping can be inferred for \(obstacles.count) reasons, the first being: \(reason)"
  }
}
