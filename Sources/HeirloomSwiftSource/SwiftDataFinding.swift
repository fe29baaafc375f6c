/// A known trap of SwiftData's versions, found in source.
package struct SwiftDataFinding: Hashable, Sendable {
  /// The trap.
  package enum Kind: String, CaseIterable, Sendable {
    /// Two versions of a plan with the same hashes, at which SwiftData ends the app.
    case equalChecksums
    /// A class that has another name in the next version.
    case lostEntity
    /// A type of today's app in an older version.
    case liveType
    /// Two classes of one name in a schema.
    case sharedClassName
    /// One version identifier in two versions of a plan.
    case reusedIdentifier
    /// A version identifier that is lower than the one before it.
    case fallingIdentifier
    /// Two neighbouring versions without a stage between them.
    case missingStage
    /// A stage that doesn't lead from a version to the next one.
    case strayStage
    /// A versioned schema that no plan lists.
    case schemaOutsidePlan
    /// A versioned schema that is declared more than once.
    case repeatedSchema
    /// A container that doesn't open the last version of its plan.
    case containerSchema
    /// A required property without a value for the rows that are there.
    case missingDefault
    /// A property that may be an old one under a new name.
    case suspectedRename
    /// A property that is renamed a second time, or whose former name is gone.
    case lostFormerName
    /// A constraint that rows of the version before it may break.
    case newConstraint
    /// A unique property with one and the same value for all rows.
    case constantUnique
    /// A class in the code of a stage that the stage can't open.
    case foreignTypeInStage
    /// Code of a stage that changes objects and doesn't save them.
    case missingSave
    /// A property whose values can't become those of its new type.
    case changedType
    /// A raw value that rows may have and that is gone.
    case narrowedEnum
    /// A released version whose source has other hashes today.
    case editedRelease
    /// A released version that isn't in the source any more.
    case lostRelease
    /// Classes without any versioned schema.
    case unversionedModels
    /// Something that can't be checked.
    case uncertain
  }

  /// The weight of a finding.
  package enum Severity: String, Sendable {
    /// Something that stops the app, or loses data.
    case error
    /// Something that does so under conditions.
    case warning
    /// Something to know.
    case note
  }

  package let kind: Kind
  package let severity: Severity
  /// The place; `nil` for what isn't in the source.
  package let place: SwiftPlace?
  /// The name of the versioned schema, of two the later one.
  package let schema: String?
  /// The name of the entity.
  package let entity: String?
  /// The name of the property.
  package let property: String?
  /// The sentences: what was found and its cause, then what mends it.
  package let message: String

  /// Creates a finding.
  init(
    _ kind: Kind, _ severity: Severity, at place: SwiftPlace?, schema: String? = nil, entity: String? = nil,
    property: String? = nil, _ message: String
  ) {
    (self.kind, self.severity, self.place, self.message) = (kind, severity, place, message)
    (self.schema, self.entity, self.property) = (schema, entity, property)
  }

  /// Returns names in words, such as `A, B and C`.
  static func list(_ names: [String]) -> String {
    let shown = names.count > 9 ? names.prefix(8) + ["\(names.count - 8) more"] : names[...]
    guard let last = shown.last, shown.count > 1 else { return shown.first ?? "" }
    return "\(shown.dropLast().joined(separator: ", ")) and \(last)"
  }
}
