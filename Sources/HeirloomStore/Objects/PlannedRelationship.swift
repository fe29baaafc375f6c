import HeirloomModel

struct PlannedKey {
  let slot: Int
  /// The slot of the entity number beside the key; -1 for none.
  let entitySlot: Int
  /// Setting the relationship changes nothing but the key.
  let isPlain: Bool
  let first: Int
  let last: Int

  init(_ relationship: PlannedRelationship) {
    slot = relationship.slot
    entitySlot = relationship.entitySlot
    isPlain = relationship.isPlainKey
    first = relationship.destinationNumbers.lowerBound
    last = relationship.destinationNumbers.upperBound
  }
}

/// As seen from objects of one entity.
final class PlannedRelationship {
  let description: RelationshipDescription
  let storage: RelationshipStorage
  let inverse: (name: String, storage: RelationshipStorage)?
  let isOwnInverse: Bool
  /// A join table is written from this side.
  let writesLinks: Bool
  let destinationNumbers: ClosedRange<Int>
  /// The slot of a to-one relationship's key; -1 for none.
  let slot: Int
  /// The slot of the entity number beside that key; -1 for none.
  let entitySlot: Int
  let isPlainKey: Bool
  /// The key's column or the join table that holds the links, the same for the inverse.
  let linkPlace: String

  var name: String { description.name }

  init?(
    _ relationship: RelationshipDescription, in entity: String, slots: [String: Int], schema: PhysicalSchema
  ) {
    guard let storage = schema.storage(ofRelationship: relationship.name, in: entity) else { return nil }
    description = relationship
    self.storage = storage
    linkPlace =
      switch storage {
      case .key(let table, let column, _), .inverseKey(let table, let column, _, _),
        .inverselessKey(let table, let column, _):
        "\(table).\(column)"
      case .join(let table, _, _, _): table
      }
    inverse = Self.inverse(of: relationship, in: entity, storage: storage, schema: schema)
    isOwnInverse = inverse?.name == relationship.name && storage == inverse?.storage
    writesLinks = Self.writesLinks(relationship, in: entity, storage: storage, schema: schema)
    destinationNumbers = schema.entity(named: relationship.destinationEntity)?.treeNumbers ?? 0...0
    guard case .key(_, let column, let entityColumn) = storage else {
      (slot, entitySlot, isPlainKey) = (-1, -1, false)
      return
    }
    slot = slots[column] ?? -1
    entitySlot = entityColumn.flatMap { slots[$0] } ?? -1
    switch inverse?.storage {
    case .key, .inverseKey(_, _, _, .some): isPlainKey = false
    default: isPlainKey = slot >= 0
    }
  }

  /// `nil` unless the inverse is stored and names this relationship as its own inverse.
  private static func inverse(
    of relationship: RelationshipDescription, in entity: String, storage: RelationshipStorage, schema: PhysicalSchema
  ) -> (name: String, storage: RelationshipStorage)? {
    if case .inverselessKey = storage { return nil }
    guard let inverse = schema.model.inverse(of: relationship),
      inverse.relationship.inverseRelationship == relationship.name,
      schema.model.declaringEntity(ofProperty: relationship.name, in: inverse.relationship.destinationEntity)?.name
        == schema.model.declaringEntity(ofProperty: relationship.name, in: entity)?.name,
      let back = schema.storage(ofRelationship: inverse.relationship.name, in: inverse.entity.name)
    else { return nil }
    return (inverse.relationship.name, back)
  }

  private static func writesLinks(
    _ relationship: RelationshipDescription, in entity: String, storage: RelationshipStorage, schema: PhysicalSchema
  ) -> Bool {
    guard case .join(let table, _, _, _) = storage,
      case .links(let owner, let name) = schema.table(named: table)?.kind
    else { return false }
    return name == relationship.name
      && schema.model.declaringEntity(ofProperty: name, in: entity)?.name == owner
  }
}
