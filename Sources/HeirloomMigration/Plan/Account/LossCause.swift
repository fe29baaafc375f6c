import HeirloomMapping
import HeirloomModel

/// Each loss has one cause; all sentences that explain losses are here.
enum LossCause {
  case effect(DataEffect.Kind, entity: String, properties: [String])

  case noCondition
  case nothingMade(byPolicyOf: String, mayBeDeleted: Bool)
  case deletedByCode
  case removed(by: DataDecision, of: String)
  /// Only objects that are made object by object.
  case quarantined(by: DataDecision, of: String)

  case replaced(name: String)
  case merged(name: String, areLinks: Bool)

  case unknownColumn(String, table: String, Fate)
  case foreignCells(String, table: String, attribute: String, byDecision: Bool)
  case foreignRows(table: String)

  case oneSided(name: String, other: String)
  case severalRelationships(name: String)
  case stray(name: String)
  case strayOrder(name: String)
  case decidedLinks(name: String, areWithin: Bool)

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

  /// `nil` if the developer has to give it.
  var consent: LossConsent? {
    switch self {
    case .removed, .quarantined, .replaced, .merged, .decidedLinks, .unknownColumn(_, _, .removed),
      .foreignCells(_, _, _, byDecision: true):
      .decision
    default: nil
    }
  }

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
