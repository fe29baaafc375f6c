import HeirloomModel

/// What is needed again and again to read and write objects of one entity.
final class EntityPlan {
  let entity: PhysicalEntity
  /// The attributes by path, names of composite elements joined by points.
  let attributes: [String: AttributeColumn]
  /// The relationships by name, transient ones left out.
  let relationships: [String: Relationship]
  /// Transient attributes and relationships.
  let transientNames: Set<String>
  /// The positions of columns in a row that ``selection`` gives.
  let positions: [String: Int]
  /// Selects a row by its primary key: the number of saves, then the columns.
  let selection: String
  /// The initial values of new objects by column.
  let defaults: [(column: String, value: SQLiteValue)]
  /// The columns with the entity number of a destination, by the column with its primary key.
  let entityColumns: [String: String]
  /// The names of composite attributes, nested ones by path.
  let compositePaths: Set<String>
  /// The names and columns of required attributes and to-one relationships.
  let required: [(property: String, column: String)]

  struct Relationship {
    let description: RelationshipDescription
    let storage: RelationshipStorage
    /// The inverse's name and where it is stored, if there is one.
    let inverse: (name: String, storage: RelationshipStorage)?
    /// Whether the relationship is its own inverse.
    let isOwnInverse: Bool
    /// Whether a join table is written from this side.
    let writesLinks: Bool
  }

  init?(_ name: String, of store: PersistentStore) {
    let schema = store.schema
    guard let entity = schema.entity(named: name) else { return nil }
    let model = schema.model
    var attributes: [String: AttributeColumn] = [:]
    var relationships: [String: Relationship] = [:]
    var transientNames: Set<String> = []
    var columns: [String] = []
    var defaults: [(column: String, value: SQLiteValue)] = []
    var required: [(property: String, column: String)] = []
    var entityColumns: [String: String] = [:]
    var compositePaths: Set<String> = []

    for attribute in model.attributes(of: name) {
      if attribute.isTransient { transientNames.insert(attribute.name) }
      for column in schema.columns(ofAttribute: attribute.name, in: name) {
        attributes[column.path.joined(separator: ".")] = column
        columns.append(column.name)
        for count in 1..<max(1, column.path.count) {
          compositePaths.insert(column.path.prefix(count).joined(separator: "."))
        }
        if let value = column.attribute.defaultValue, attribute.derivation == nil,
          let encoded = try? ValueCoding.encode(value, for: column.attribute)
        {
          defaults.append((column.name, encoded))
        }
        // An optional composite may lack all its elements.
        if column.path.count == 1, !attribute.isOptional, attribute.derivation == nil {
          required.append((attribute.name, column.name))
        }
      }
    }
    for relationship in model.relationships(of: name) {
      guard let storage = schema.storage(ofRelationship: relationship.name, in: name) else {
        transientNames.insert(relationship.name)
        continue
      }
      if case .key(_, let column, let entityColumn) = storage {
        columns.append(column)
        if let entityColumn {
          columns.append(entityColumn)
          entityColumns[column] = entityColumn
        }
        if !relationship.isOptional { required.append((relationship.name, column)) }
      }
      let inverse = Self.inverse(of: relationship, in: name, storage: storage, schema: schema)
      let isOwnInverse = inverse?.name == relationship.name && storage == inverse?.storage
      relationships[relationship.name] = Relationship(
        description: relationship, storage: storage, inverse: inverse, isOwnInverse: isOwnInverse,
        writesLinks: Self.writesLinks(relationship, in: name, storage: storage, schema: schema))
    }
    self.entity = entity
    self.attributes = attributes
    self.relationships = relationships
    self.transientNames = transientNames
    self.defaults = defaults
    self.required = required
    self.entityColumns = entityColumns
    self.compositePaths = compositePaths
    positions = Dictionary(zip(columns, 1...), uniquingKeysWith: { first, _ in first })
    let list = ([PhysicalName.optimisticLock] + columns).map(quote).joined(separator: ", ")
    selection =
      "SELECT \(list) FROM \(store.qualified(entity.table)) WHERE \(quote(PhysicalName.primaryKey)) = ?1"
      + " AND \(quote(PhysicalName.entity)) = ?2"
  }

  /// The relationship that leads back and is stored as such.
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
