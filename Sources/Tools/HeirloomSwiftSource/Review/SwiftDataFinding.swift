/// A known trap in SwiftData's versions, found in source.
package struct SwiftDataFinding: Hashable, Sendable {
  /// The kind of trap.
  package enum Kind: String, CaseIterable, Sendable {
    /// Two versions of a plan with the same hashes, which make SwiftData crash the app.
    case equalChecksums
    /// A class that has another name in the next version.
    case lostEntity
    /// A type of the current app in an older version.
    case liveType
    /// Two classes with the same name in a schema.
    case sharedClassName
    /// The same version identifier in two versions of a plan.
    case reusedIdentifier
    /// A version identifier that is lower than the one before it.
    case fallingIdentifier
    /// Two neighbouring versions without a stage between them.
    case missingStage
    /// A stage that doesn't go from a version to the next one.
    case strayStage
    /// A versioned schema that no plan lists.
    case schemaOutsidePlan
    /// A versioned schema that is declared more than once.
    case repeatedSchema
    /// A container that doesn't open the last version of its plan.
    case containerSchema
    /// A required property without a default value for existing rows.
    case missingDefault
    /// A property that may be an old one under a new name.
    case suspectedRename
    /// A property that is renamed a second time, or whose former name doesn't exist.
    case lostFormerName
    /// A constraint that rows of the previous version may violate.
    case newConstraint
    /// A unique property with a constant value for all rows.
    case constantUnique
    /// A class in a stage's code that the stage can't access.
    case foreignTypeInStage
    /// A stage's code that changes objects and doesn't save them.
    case missingSave
    /// A property whose values can't be converted to its new type.
    case changedType
    /// A removed raw value that rows may have.
    case narrowedEnum
    /// A released version whose source now has other hashes.
    case editedRelease
    /// A released version that is no longer in the source.
    case lostRelease
    /// Classes without any versioned schema.
    case unversionedModels
    /// Something that can't be checked.
    case uncertain
  }

  /// The severity of a finding.
  package enum Severity: String, Sendable {
    /// Crashes the app or loses data.
    case error
    /// Crashes the app or loses data under some conditions.
    case warning
    /// Information only.
    case note
  }

  package let kind: Kind
  package let severity: Severity
  /// The place in the source; `nil` if there is none.
  package let place: SwiftPlace?
  /// The name of the versioned schema, the later one of two.
  package let schema: String?
  /// The name of the entity.
  package let entity: String?
  /// The name of the property.
  package let property: String?
  /// The finding, its cause and the remedy, in sentences.
  package let message: String

  init(
    _ kind: Kind, _ severity: Severity, at place: SwiftPlace?, schema: String? = nil, entity: String? = nil,
    property: String? = nil, _ message: String
  ) {
    (self.kind, self.severity, self.place, self.message) = (kind, severity, place, message)
    (self.schema, self.entity, self.property) = (schema, entity, property)
  }
}
