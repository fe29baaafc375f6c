public import HeirloomFormats
import HeirloomModel

/// A reason why an object can't be read, changed or saved.
///
/// Values are user data and never part of an error.
@nonexhaustive
public enum ManagedObjectError: Error, Hashable, Sendable {
  /// An entity name that the model, or its configuration, doesn't have, and the most similar one that it has.
  case unknownEntity(String, nearest: String?)
  /// An abstract entity, of which no objects exist.
  case abstractEntity(String)
  /// A property name that the entity doesn't have, and the most similar one that it has.
  ///
  /// If the entity has the property but as another kind than expected, `nearest` is its own name.
  case unknownProperty(entity: String, property: String, nearest: String?)
  /// A property that can't be set: a derived or fetched one.
  case readOnlyProperty(entity: String, property: String)
  /// A value of another kind than the attribute.
  case wrongKind(entity: String, property: String, expected: String)
  /// A value of the right kind, but out of range, not a number, no decimal number, or no UUID of 16 bytes.
  case unstorableValue(entity: String, property: String)
  /// An object that can't be a destination of the relationship.
  case wrongDestination(entity: String, relationship: String, expected: String, found: String)
  /// An object that was used as one of another entity.
  case wrongEntity(expected: String, found: String)
  /// An object that belongs to another context.
  case otherContext(entity: String)
  /// An object that was deleted.
  case deleted(entity: String)
  /// An object whose row no longer exists in the store.
  case missingRow(ManagedObjectID)
  /// A stored value that can't be decoded as the attribute's type.
  case undecodableValue(ManagedObjectID, property: String)
  /// A file of external data that is missing or can't be read.
  case missingExternalFile(ManagedObjectID, property: String, path: String)
  /// A required property without a value.
  case missingValue(entity: String, property: String)
  /// A value that breaks a rule of the model; `rule` is the rule's predicate format.
  case invalidValue(entity: String, property: String, rule: String)
  /// A relationship with fewer objects than the model requires.
  case tooFewObjects(entity: String, relationship: String, found: Int, minimum: Int)
  /// A relationship with more objects than the model allows.
  case tooManyObjects(entity: String, relationship: String, found: Int, maximum: Int)
  /// Two objects with equal values of properties that must be unique.
  case notUnique(entity: String, properties: [String])
  /// An object that can't be deleted while the relationship has destinations.
  case deletionDenied(entity: String, relationship: String)
  /// An object that was changed or deleted elsewhere since it was read.
  case conflict(ManagedObjectID)
  /// A store that can't be read or written.
  case store(StoreError)
}

extension ManagedObjectError: ExplainedError {
  /// The object or property, what was found and what was expected.
  public var cause: String {
    switch self {
    case .unknownEntity(let entity, let nearest):
      "The store holds no objects of an entity \"\(entity)\"\(NameSuggestion.question(nearest))"
    case .abstractEntity(let entity):
      "Entity \"\(entity)\" is abstract; only objects of its subentities exist."
    case .unknownProperty(let entity, let property, let nearest) where nearest == property:
      "\"\(entity).\(property)\" is a property of another kind than expected."
    case .unknownProperty(let entity, let property, let nearest):
      "Entity \"\(entity)\" has no property \"\(property)\"\(NameSuggestion.question(nearest))"
    case .readOnlyProperty(let entity, let property):
      "\"\(entity).\(property)\" is computed and can't be set."
    case .wrongKind(let entity, let property, let expected):
      "\"\(entity).\(property)\" was given a value of another kind; expected \(expected)."
    case .unstorableValue(let entity, let property):
      "\"\(entity).\(property)\" was given a value that can't be stored, such as a number out of range."
    case .wrongDestination(let entity, let relationship, let expected, let found):
      "\"\(entity).\(relationship)\" was given an object of entity \"\(found)\"; expected \"\(expected)\"."
    case .wrongEntity(let expected, let found):
      "An object of entity \"\(found)\" was to be used as one of \"\(expected)\"."
    case .otherContext(let entity):
      "An object of entity \"\(entity)\" belongs to another context; expected one of the same."
    case .deleted(let entity):
      "An object of entity \"\(entity)\" was deleted and can't be used any more."
    case .missingRow(let id):
      "The object \(id.uriRepresentation) is not in the store."
    case .undecodableValue(let id, let property):
      "The value of \"\(property)\" of the object \(id.uriRepresentation) is not stored in the form of its type."
    case .missingExternalFile(let id, let property, let path):
      "The value of \"\(property)\" of the object \(id.uriRepresentation) is in the file \(path), which can't be read."
    case .missingValue(let entity, let property):
      "\"\(entity).\(property)\" is required and has no value."
    case .invalidValue(let entity, let property, let rule):
      "The value of \"\(entity).\(property)\" breaks a validation rule; expected \(rule)."
    case .tooFewObjects(let entity, let relationship, let found, let minimum):
      "\"\(entity).\(relationship)\" has \(found) objects; expected at least \(minimum)."
    case .tooManyObjects(let entity, let relationship, let found, let maximum):
      "\"\(entity).\(relationship)\" has \(found) objects; expected at most \(maximum)."
    case .notUnique(let entity, let properties):
      "Two objects of entity \"\(entity)\" have equal values of \(properties.joined(separator: ", ")), which must differ."
    case .deletionDenied(let entity, let relationship):
      "An object of entity \"\(entity)\" can't be deleted while \"\(relationship)\" has objects."
    case .conflict(let id):
      "The object \(id.uriRepresentation) was changed or deleted elsewhere since it was read."
    case .store(let error):
      error.cause
    }
  }
}

extension ManagedObjectError {
  /// Where the changes or the store are, and what to correct.
  public var help: ErrorHelp {
    let unsaved = DataLocation.described("Nothing was saved; the changes are still in the context.")
    return switch self {
    case .store(let error): error.help
    case .missingValue, .invalidValue, .tooFewObjects, .tooManyObjects, .notUnique, .deletionDenied, .unstorableValue,
      .wrongKind, .wrongDestination:
      ErrorHelp(unsaved, "Correct the object and save again.")
    case .conflict: ErrorHelp(unsaved, "Roll back, then make the changes again on the current values.")
    case .missingExternalFile:
      ErrorHelp(
        .described("The rest of the object is not affected."),
        "Bring back the file from a backup or a previous version.", [.previousVersions])
    case .undecodableValue:
      ErrorHelp(.described("The store was left as it is."), "The raw value can be read with any SQLite tool.")
    case .unknownEntity, .abstractEntity, .unknownProperty, .readOnlyProperty, .wrongEntity, .otherContext, .deleted,
      .missingRow:
      ErrorHelp(.unchanged, "This is a mistake in the calling code or its model.")
    }
  }

  /// The store's error.
  public var underlyingError: (any Error)? {
    guard case .store(let error) = self else { return nil }
    return error
  }

  /// The Core Data error code for a similar failure; `nil` where Core Data raises an exception instead.
  public var coreDataCode: Int? {
    switch self {
    case .invalidValue: 1550
    case .missingValue: 1570
    case .tooFewObjects: 1580
    case .tooManyObjects: 1590
    case .deletionDenied: 1600
    case .notUnique: 133_021
    case .conflict: 133_020
    case .missingRow: 133_000
    case .missingExternalFile: 133_010
    case .store(let error): error.coreDataCode
    case .unknownEntity, .abstractEntity, .unknownProperty, .readOnlyProperty, .wrongKind, .unstorableValue,
      .wrongDestination, .wrongEntity, .otherContext, .deleted, .undecodableValue:
      nil
    }
  }
}
