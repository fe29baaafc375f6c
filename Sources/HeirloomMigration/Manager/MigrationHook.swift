import HeirloomFormats
import HeirloomModel
public import HeirloomStore

/// A step of a policy, by Core Data's names.
public enum MigrationHook: String, Hashable, Sendable, CaseIterable {
  /// Before a mapping's first source object.
  case begin
  /// For each source object.
  case createDestinationInstances
  /// After the last source object.
  case endInstanceCreation
  /// For each destination object.
  case createRelationships
  /// After the last destination object.
  case endRelationshipCreation
  /// Once, after all relationships of all mappings.
  case performCustomValidation
  /// At the end.
  case end
}

/// What went wrong while an entity mapping ran object by object, and where.
public struct EntityMappingFailure: Error, Sendable {
  /// The name of the entity mapping.
  public let mapping: String
  /// The step.
  public let hook: MigrationHook
  /// The entity of the object that the step was for, or else that of the mapping's destination, or source.
  public let entity: String
  /// The object that the step was for: of the source while objects are made, of the destination afterwards; `nil` for a step
  /// that is for no single object.
  public let object: ManagedObjectID?
  /// What the policy threw, or what was found wrong.
  public let underlying: any Error

  /// Creates a failure.
  package init(
    mapping: String, hook: MigrationHook, entity: String, object: ManagedObjectID?, underlying: any Error
  ) {
    self.mapping = mapping
    self.hook = hook
    self.entity = entity
    self.object = object
    self.underlying = underlying
  }
}

extension EntityMappingFailure: CustomStringConvertible {
  /// One sentence: where it happened and what was found.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let place = object.map { " for the object \($0.primaryKey) of \"\(entity)\"" } ?? " of \"\(entity)\""
    return
      "The entity mapping \"\(mapping)\" failed in \(hook.rawValue)\(place): \(ErrorWords.sentence(of: underlying))"
  }
}

/// A mistake of a policy or mapping that shows only when objects are made.
@nonexhaustive
public enum MigrationManagerError: Error, Hashable, Sendable {
  /// The mapping model has no entity mapping of that name.
  case unknownEntityMapping(String, known: [String])
  /// Of the objects of the mapping's destination entity that were made for a source object, `made` were not associated.
  case notAssociated(entity: String, made: Int)
  /// The same two objects were associated by the same mapping before.
  case associatedTwice(source: Int64, destination: Int64)
  /// An object that is to be associated is of the wrong side, or was not saved by this migration.
  case foreignObject(entity: String)
  /// A value expression gave what the property can't hold.
  case unfitValue(property: String, expected: String)
  /// A value expression can't be evaluated.
  case expressionFailed(property: String, reason: String)
  /// A required property has no value at the end.
  case missingValue(entity: String, property: String, primaryKey: Int64)
}

extension MigrationManagerError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .unknownEntityMapping(let name, let known):
      "No entity mapping is named \"\(name)\"; there are \(known.isEmpty ? "none" : known.map { "\"\($0)\"" }.joined(separator: ", "))."
    case .notAssociated(let entity, let made):
      "\(CountText.counted(made, "object")) of \"\(entity)\" \(made == 1 ? "was" : "were") made and not associated with the source object; call associate for each, or"
        + " their relationships would never be set."
    case .associatedTwice(let source, let destination):
      "The source object \(source) and the destination object \(destination) were associated twice."
    case .foreignObject(let entity):
      "An object of \"\(entity)\" is of another context; expected a source object and a destination object."
    case .unfitValue(let property, let expected):
      "The value expression of \"\(property)\" gave another kind of value; expected \(expected)."
    case .expressionFailed(let property, let reason):
      "The value expression of \"\(property)\" can't be evaluated: \(ErrorWords.ended(reason))"
    case .missingValue(let entity, let property, let key):
      "The required property \"\(entity).\(property)\" of the object \(key) has no value."
    }
  }
}
