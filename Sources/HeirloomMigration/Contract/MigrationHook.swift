public import HeirloomFormats
import HeirloomModel
public import HeirloomStore

/// A method of a policy, by Core Data's name.
package enum MigrationHook: String, Hashable, Sendable, CaseIterable {
  case begin
  case createDestinationInstances
  case endInstanceCreation
  case createRelationships
  case endRelationshipCreation
  /// Once, after all relationships of all mappings.
  case performCustomValidation
  case end
}

/// A failure of an entity mapping that ran object by object, with its place.
public struct EntityMappingFailure: Error, Sendable {
  /// The name of the entity mapping.
  public let mapping: String
  package let hook: MigrationHook
  /// The entity of the object, or else of the mapping's destination or source.
  public let entity: String
  /// The object; `nil` for a call without one.
  ///
  /// It is a source object while objects are made, and a destination object afterwards.
  public let object: ManagedObjectID?
  /// The error that the policy threw or that a check found.
  public let underlying: any Error

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

extension EntityMappingFailure: ExplainedError {
  /// The entity mapping, its method, the object and the error.
  public var cause: String {
    let place = object.map { " for the object \($0.primaryKey) of \"\(entity)\"" } ?? " of \"\(entity)\""
    return
      "The entity mapping \"\(mapping)\" failed in \(hook.rawValue)\(place): \(ErrorWords.sentence(of: underlying))"
  }

  /// The correction of the policy; the store is unchanged.
  public var help: ErrorHelp {
    ErrorHelp(
      .store(path: nil), "Correct \(hook.rawValue) of the mapping's policy, or the mapping, then try again.")
  }

  /// The same as `underlying`.
  public var underlyingError: (any Error)? { underlying }

  /// Core Data's code of a policy that failed.
  public var coreDataCode: Int? { 134_170 }
}

/// A mistake of a policy or mapping that is found only when objects are made.
@nonexhaustive
public enum MigrationManagerError: Error, Hashable, Sendable {
  /// The name of an entity mapping that the mapping model doesn't have.
  case unknownEntityMapping(String, known: [String])
  /// Objects of the mapping's destination entity made for one source object, of which `made` were not associated.
  case notAssociated(entity: String, made: Int)
  /// Two objects that the same mapping has already associated.
  case associatedTwice(source: Int64, destination: Int64)
  /// An object to associate that is of the wrong store, or was not saved by this migration.
  case foreignObject(entity: String)
  /// A value, from an expression or from the source, that the property can't hold.
  case unfitValue(property: String, expected: String)
  /// A value expression that can't be evaluated.
  case expressionFailed(property: String, reason: String)
  /// A required property that has no value at the end.
  case missingValue(entity: String, property: String, primaryKey: Int64)
}

extension MigrationManagerError: ExplainedError {
  /// The mapping or the object, with what was expected.
  public var cause: String {
    switch self {
    case .unknownEntityMapping(let name, let known):
      "No entity mapping is named \"\(name)\"; there are \(known.isEmpty ? "none" : known.map { "\"\($0)\"" }.joined(separator: ", "))."
    case .notAssociated(let entity, let made):
      "\(CountText.counted(made, "object")) of \"\(entity)\" \(CountText.verb("were", made)) made but not associated with the source object; call associate for each, or"
        + " their relationships won't be set."
    case .associatedTwice(let source, let destination):
      "The source object \(source) and the destination object \(destination) were associated twice."
    case .foreignObject(let entity):
      "An object of \"\(entity)\" belongs to another context; expected a source object and a destination object."
    case .unfitValue(let property, let expected):
      "The value for \"\(property)\" has the wrong type or is out of range; expected \(expected)."
    case .expressionFailed(let property, let reason):
      "The value expression of \"\(property)\" can't be evaluated: \(ErrorWords.ended(reason))"
    case .missingValue(let entity, let property, let key):
      "The required property \"\(entity).\(property)\" of the object \(key) has no value."
    }
  }

  /// The correction of the policy or the mapping; the store is unchanged.
  public var help: ErrorHelp {
    let advice =
      switch self {
      case .unknownEntityMapping: "Use the name of an entity mapping of the mapping model."
      case .notAssociated, .associatedTwice: "Call associate once for each object that the policy makes."
      case .foreignObject: "Pass the source object that the policy was called with, and the object that it made."
      case .unfitValue:
        "Correct the expression in the mapping, or leave the property out of it and set it in the policy."
      case .expressionFailed: "Correct the expression in the mapping."
      case .missingValue: "Set the property in the policy or the mapping, give it a default, or make it optional."
      }
    return ErrorHelp(.store(path: nil), advice)
  }
}
