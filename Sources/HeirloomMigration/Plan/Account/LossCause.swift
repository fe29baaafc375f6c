import HeirloomMapping
import HeirloomModel

/// The cause of a loss or a change.
///
/// Each loss has one; all sentences that explain losses are here.
enum LossCause {
  // Inferred from the models.

  /// A loss that the two models and the mapping imply.
  case effect(DataEffect.Kind, entity: String, properties: [String])

  // Objects.

  /// No condition of the entity's mappings takes them.
  case noCondition
  /// A policy made no object from them, or code deleted the object, and none of their properties was read.
  case nothingMade(byPolicyOf: String, mayBeDeleted: Bool)
  /// Code deleted the objects that SQL had made from them, and read none of their properties.
  case deletedByCode
  /// A decision removes objects of a destination entity.
  case removed(by: DataDecision, of: String)
  /// A decision puts objects that are made one by one into quarantine.
  case quarantined(by: DataDecision, of: String)

  // Values.

  /// Numbers that are too large for an attribute are replaced, by decision.
  case replaced(name: String)
  /// Objects are merged into objects of entities without the property.
  case merged(name: String, areLinks: Bool)

  // Content outside the model.

  /// A column belongs to no property of the model.
  case unknownColumn(String, table: String, Fate)
  /// Rows of entities without an attribute have values in its column.
  case foreignCells(String, table: String, attribute: String, byDecision: Bool)
  /// Rows of a bookkeeping table belong to no entity or model of the store.
  case foreignRows(table: String)

  // Links.

  /// The other side of a one-to-one relationship is copied, and lacks them.
  case oneSided(name: String, other: String)
  /// Several relationships become one to-one relationship.
  case severalRelationships(name: String)
  /// The relationship doesn't join the entities of the linked objects.
  case stray(name: String)
  /// The order of such links.
  case strayOrder(name: String)
  /// A decision removes the object at the other end, or merges it with the owner.
  case decidedLinks(name: String, areWithin: Bool)

  // Content given to code.

  /// Code didn't read it, and the candidate lacks it.
  case unread(PendingCause, LossKind, entity: String, property: String, targets: [String])

  /// The fate of the cells of a column outside the model.
  enum Fate: String {
    case untaken = "these values are not copied"
    case partlyGone = "some of its rows are dropped"
    case removed = "decisions remove the only rows with these values"
  }
}

extension LossCause {
  var kind: LossKind {
    switch self {
    case .effect(let kind, _, _): kind.lossKind ?? .linksWithoutRoom
    case .noCondition, .nothingMade, .deletedByCode, .removed, .quarantined: .objects
    case .replaced: .values
    case .merged(_, let areLinks): areLinks ? .links : .values
    case .unknownColumn, .foreignCells, .foreignRows, .stray, .strayOrder: .unknownContent
    case .oneSided, .decidedLinks: .links
    case .severalRelationships: .linksWithoutRoom
    case .unread(let cause, let kind, _, _, _):
      switch cause {
      case .foreign, .noRoom: .linksWithoutRoom
      case .noOrder, .otherOrder: .order
      case .unmapped, .passedOver, .undone, .leftOut: kind
      }
    }
  }

  /// The consent that the cause implies; `nil` if the developer has to give it.
  var consent: LossConsent? {
    switch self {
    case .removed, .quarantined, .replaced, .merged, .decidedLinks, .unknownColumn(_, _, .removed),
      .foreignCells(_, _, _, byDecision: true):
      .decision
    default: nil
    }
  }

  /// The reason, in a sentence.
  var reason: String {
    switch self {
    case .effect(let kind, let entity, let properties):
      DataEffect(kind: kind, entity: entity, properties: properties, rows: []).description
    case .noCondition: "no entity mapping has a condition that these objects meet"
    case .nothingMade(let mapping, let mayBeDeleted):
      "The policy of \"\(mapping)\" made nothing from these objects"
        + "\(mayBeDeleted ? ", or code deleted what it made," : "") and read none of their properties."
    case .deletedByCode: "Code deleted the objects made from these, and read none of their properties."
    case .removed(let decision, let entity):
      "Objects of \"\(entity)\" \(Self.words(decision)), by the decision \(decision)."
    case .quarantined(let decision, let entity):
      "Objects of \"\(entity)\" go into quarantine, and links to them are dropped, by the decision \(decision)."
    case .replaced(let name): "The numbers of \"\(name)\" that are too large are replaced by another."
    case .merged(let name, let areLinks):
      "\(areLinks ? "Links" : "Values") of \"\(name)\" are dropped: by decision, their objects are merged into objects of"
        + " entities without it."
    case .unknownColumn(let column, let table, let fate):
      "The column \(table).\(column) belongs to no property of the model, and \(fate.rawValue)."
    case .foreignCells(let column, let table, let attribute, _):
      "The column \(table).\(column) has values in rows of entities without \"\(attribute)\"; they are not copied."
    case .foreignRows(let table):
      "The table \(table) has rows that belong to no entity or model of the store; they are not copied."
    case .oneSided(let name, let other):
      "\"\(name)\" is not copied, and its inverse \"\(other)\", which is, lacks these links."
    case .severalRelationships(let name):
      "Several relationships are copied to \"\(name)\", which is to-one; the object with the lowest primary key is kept."
    case .stray(let name):
      "\"\(name)\" has links of objects of other entities than it joins; they are not copied."
    case .strayOrder(let name):
      "\"\(name)\" has an order of links of objects of other entities than it joins; it is not copied."
    case .decidedLinks(let name, let areWithin):
      "Links of \"\(name)\" \(areWithin ? "between objects that decisions merge" : "to objects that decisions remove")"
        + " are dropped."
    case .unread(let cause, let kind, let entity, let property, let targets):
      Self.words(cause, areLinks: kind == .links, entity, property, targets)
    }
  }

  private static func words(_ decision: DataDecision) -> String {
    let names = decision.properties.joined(separator: ", ")
    return switch decision.choice {
    case .keepNewest: "that are equal to a newer one in \(names) are dropped"
    case .merge:
      "that are equal to another in \(names) are merged into it; where both have a value, or a link to one object, only"
        + " the other's is kept"
    case .quarantine: "go into quarantine\(names.isEmpty ? "" : " for \(names)")"
    case .fill, .compute: "get a value"
    case .link(let entity): "get a new \(entity)"
    }
  }

  private static func words(
    _ cause: PendingCause, areLinks: Bool, _ entity: String, _ property: String, _ targets: [String]
  ) -> String {
    func effect(_ kind: DataEffect.Kind) -> String {
      DataEffect(kind: kind, entity: entity, properties: [property], rows: []).description
    }
    let unread = "The code of the mapping never read \"\(entity).\(property)\""
    return switch cause {
    case .unmapped: "No property mapping copies \"\(entity).\(property)\", and the code of the mapping never read it."
    case .passedOver: "\(unread), nor called the default that copies it."
    case .undone:
      areLinks
        ? "\(unread), and the objects that it made lack these links."
        : "\(unread), and removed what the default had copied."
    case .leftOut: "\(unread), and made nothing from the object at one end."
    case .noRoom: effect(.severalLinks(otherSide: nil))
    case .noOrder: effect(.orderDropped)
    case .otherOrder: "\(unread), and the objects that it made have another order."
    case .foreign: effect(.foreignLinks(to: targets))
    }
  }
}
