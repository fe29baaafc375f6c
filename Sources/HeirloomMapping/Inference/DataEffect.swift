package import HeirloomModel

/// A loss, blocker or warning that rows may cause: the models say which rows to count, the store says if there are any.
///
/// The plan counts these rows and drops an effect without any.
package struct DataEffect: Hashable, Sendable {
  package let kind: Kind
  /// It declares the property: in the source for dropped content, else in the destination.
  package let entity: String
  /// On the same side: one, several for a constraint, none for the entity itself.
  ///
  /// Elements of composites are written `composite.element`.
  package let properties: [String]
  package let rows: [Rows]

  package init(kind: Kind, entity: String, properties: [String], rows: [Rows]) {
    self.kind = kind
    self.entity = entity
    self.properties = properties
    self.rows = rows
  }

  package struct Rows: Hashable, Sendable {
    /// Only its own objects count, not those of subentities.
    package let entity: String
    /// `nil` if the objects are dropped.
    package let destinationEntity: String?
    /// The source path of each of the effect's properties; `nil` for one that is new.
    package let properties: [String?]
    /// Entity mappings with a condition, one of which must take the object; empty for all objects.
    package let takenBy: [String]
    /// Entity mappings with a condition, none of which may take the object.
    package let notTakenBy: [String]
    /// Source paths, one of which must have a value in the rows; empty for all rows.
    ///
    /// They fill other leaves of an optional composite: a required leaf may be NULL if all are.
    package let companions: [String]
    /// The destination's relationship can't refer to objects of these: a link to one is missing.
    package let lostTargets: [String]

    package init(
      entity: String, destinationEntity: String?, properties: [String?], takenBy: [String] = [],
      notTakenBy: [String] = [], companions: [String] = [], lostTargets: [String] = []
    ) {
      self.entity = entity
      self.destinationEntity = destinationEntity
      self.properties = properties
      self.takenBy = takenBy
      self.notTakenBy = notTakenBy
      self.companions = companions
      self.lostTargets = lostTargets
    }
  }

  package enum Kind: Hashable, Sendable {
    /// A required attribute without a default: every row if it is new, rows with NULL otherwise.
    case missingValue
    /// A value that a decision's expression fails to compute.
    case uncomputed
    /// A required to-one relationship: every row if it is new, rows without a link otherwise.
    ///
    /// Rows whose only links ``foreignLinks(to:)`` counts are among them. A new relationship may be the inverse of a
    /// source relationship; then the rows are those that no link of it refers to.
    case missingLink(otherSide: SourceRelationship?)
    /// A new uniqueness constraint: rows equal to another in all of the properties, none of them NULL.
    case duplicate
    case overflow(from: AttributeType, to: AttributeType)
    /// The destination's type can't represent them exactly: converted back, they differ.
    case valuesChanged(from: AttributeType, to: AttributeType)
    /// Numbers that an expression computes of dropped values and that have more digits than the destination's type
    /// keeps.
    case rounded(to: AttributeType)
    /// Values written by another value transformer than the one that will read them; their bytes stay.
    case recoded(from: String, to: String)
    /// Objects of exactly this entity, which has become abstract.
    case uninstantiable
    /// Owners with several links of a relationship that becomes to-one, or with several links of its inverse.
    case severalLinks(otherSide: SourceRelationship?)
    /// Links to objects that several owners share by a to-many relationship that has no inverse any more.
    ///
    /// Each object can have one owner; the owner with the lowest primary key keeps it.
    case sharedLinks
    case tooFewLinks(minimum: Int)
    case tooManyLinks(maximum: Int)
    /// Links to objects of exactly these source entities, whose destination the relationship can't refer to.
    case foreignLinks(to: [String])
    /// Links to objects that the mapping's condition excludes.
    case leftOutLinks(to: [Rows])
    /// Owners with more than one link of a relationship that loses its order.
    case orderDropped
    case objectsDropped
    /// Objects that meet none of the conditions of their entity's mappings; the models can't say if there are any.
    case objectsLeftOut
    /// Values, other than NULL, of an attribute that is gone or no longer stored.
    case valuesDropped
    /// Values, other than NULL, of an attribute for which a decision's expression supplies others.
    case valuesNotTaken
    /// Links of a relationship that is gone on both sides or no longer stored.
    case linksDropped
  }

  /// True if every object of an entity stops the migration (with a constraint, all but one), whatever its values.
  package var stopsEveryObject: Bool { rows.contains { concernsEveryObject($0) } }

  package func concernsEveryObject(_ rows: Rows) -> Bool {
    guard rows.takenBy.isEmpty, rows.notTakenBy.isEmpty, rows.companions.isEmpty else { return false }
    return switch kind {
    case .missingValue, .missingLink(otherSide: nil), .duplicate: rows.properties.allSatisfy { $0 == nil }
    case .uninstantiable: true
    default: false
    }
  }

  package struct SourceRelationship: Hashable, Sendable {
    /// The one that declares it.
    package let entity: String
    package let relationship: String
  }

  package enum Severity: String, Hashable, Sendable, CaseIterable {
    /// Content that the destination has no place for; the previous version keeps it.
    case loss
    /// Rows that stop the migration until a decision is made.
    case blocker
    case warning
  }
}

extension DataEffect.Kind {
  /// A stable code.
  package var code: String {
    switch self {
    case .missingValue: "missingValue"
    case .uncomputed: "uncomputed"
    case .missingLink: "missingLink"
    case .duplicate: "duplicate"
    case .overflow: "overflow"
    case .valuesChanged: "valuesChanged"
    case .rounded: "rounded"
    case .recoded: "recoded"
    case .uninstantiable: "uninstantiable"
    case .severalLinks: "severalLinks"
    case .sharedLinks: "sharedLinks"
    case .tooFewLinks: "tooFewLinks"
    case .tooManyLinks: "tooManyLinks"
    case .foreignLinks: "foreignLinks"
    case .leftOutLinks: "leftOutLinks"
    case .orderDropped: "orderDropped"
    case .objectsDropped: "objectsDropped"
    case .objectsLeftOut: "objectsLeftOut"
    case .valuesDropped: "valuesDropped"
    case .valuesNotTaken: "valuesNotTaken"
    case .linksDropped: "linksDropped"
    }
  }

  package var severity: DataEffect.Severity {
    switch self {
    case .missingValue, .uncomputed, .missingLink, .duplicate, .overflow, .uninstantiable: .blocker
    case .tooFewLinks, .tooManyLinks, .recoded: .warning
    case .severalLinks, .sharedLinks, .foreignLinks, .leftOutLinks, .orderDropped, .objectsDropped, .objectsLeftOut,
      .valuesDropped,
      .valuesNotTaken, .valuesChanged, .rounded, .linksDropped:
      .loss
    }
  }
}

extension DataEffect: CustomStringConvertible {
  package var description: String { PlainText.line(rawDescription) }

  /// The other entities whose objects share the constraint's index.
  private var amongOthers: String {
    let others = Set(rows.compactMap(\.destinationEntity)).subtracting([entity]).ordered().map { "\"\($0)\"" }
    return others.isEmpty ? "" : ", also among objects of \(others.joined(separator: ", "))"
  }

  private var rawDescription: String {
    let subject =
      properties.count > 1
      ? "\"\(entity)\" (\(properties.joined(separator: ", ")))"
      : "\"\(entity)\(properties.first.map { "." + $0 } ?? "")\""
    return switch kind {
    case .missingValue:
      "\(subject) is required and has no default; give it one, make it optional, or fill the missing values."
    case .uncomputed:
      "The decided expression for \(subject) gives these rows no valid value; fill or quarantine them."
    case .missingLink:
      "The relationship \(subject) is required; make it optional, or choose an object for the rows without a link."
    case .duplicate:
      "Values of \(subject) must now be unique\(amongOthers); merge the duplicates, keep the newest, or put them in quarantine."
    case .overflow(let from, let to):
      "\(subject) changes from \(from.name) to \(to.name), which can't represent larger numbers; keep the wider type."
    case .valuesChanged(let from, let to):
      "\(subject) changes from \(from.name) to \(to.name), which can't represent some values exactly: converted back,"
        + " they differ."
    case .rounded(let type):
      "The decided expression for \(subject) may give numbers with more digits than \(type.name) keeps, which are"
        + " rounded."
    case .recoded(let from, let to):
      "\(subject) is now read by the transformer \(to), and was written by \(from): its bytes don't change, so \(to)"
        + " must be able to read them, or code must convert them."
    case .uninstantiable:
      "Entity \(subject) is now abstract, so it can have no objects of its own; map them to a subentity."
    case .severalLinks:
      "\(subject) is now to-one; of several objects, the one with the lowest primary key is kept."
    case .sharedLinks:
      "\(subject) has no inverse, so each object can have one owner; the owner with the lowest primary key keeps it."
    case .tooFewLinks(let minimum):
      "\(subject) now needs at least \(minimum) objects; validation fails when an object with fewer is changed."
    case .tooManyLinks(let maximum):
      "\(subject) now takes at most \(maximum) objects; validation fails when an object with more is changed."
    case .foreignLinks(let entities):
      "\(subject) can no longer refer to objects of \(entities.joined(separator: ", ")); such links are dropped."
    case .leftOutLinks(let targets):
      "\(subject) referred to objects of \(targets.map(\.entity).joined(separator: ", ")) that the mapping's conditions"
        + " exclude; such links are dropped."
    case .orderDropped: "\(subject) no longer keeps an order."
    case .objectsLeftOut: "Objects of \(subject) that meet no condition of their entity mappings are dropped."
    case .objectsDropped: "Entity \(subject) is removed or not mapped, with its objects."
    case .valuesNotTaken:
      "The decided expression uses only some values of \(subject); the others are lost."
    case .valuesDropped: "\(subject) is removed, not mapped or no longer stored, with its values."
    case .linksDropped: "\(subject) is removed, not mapped or no longer stored, with its links."
    }
  }
}
