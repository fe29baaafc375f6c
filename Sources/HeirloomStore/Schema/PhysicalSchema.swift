package import HeirloomModel

/// Core Data computes all names from the model: a store that it is to open must have exactly these.
package struct PhysicalSchema: Sendable {
  package let model: ManagedObjectModel
  /// In the order of their numbers.
  package let entities: [PhysicalEntity]
  /// These and the indexes and triggers are in the order in which they are created.
  package private(set) var tables: [PhysicalTable]
  package let indexes: [PhysicalIndex]
  package let triggers: [PhysicalTrigger]
  /// Those whose expression has no known trigger, each as entity and attribute.
  package let underivedAttributes: [[String]]

  private let entityPositions: [String: Int]
  private let tablePositions: [String: Int]
  /// Inherited properties included.
  private let storages: [String: [String: PropertyStorage]]

  enum PropertyStorage: Hashable, Sendable {
    case attribute([AttributeColumn])
    case relationship(RelationshipStorage)
  }

  /// An existing store decides which side names the table of a many-to-many relationship.
  ///
  /// Within one entity that can't be derived, and elsewhere a store may have the other name.
  /// Without it, `joinOwners` decides, relationships as `Entity.relationship`.
  package init(
    model: ManagedObjectModel, configuration: String? = nil, actual: ActualSchema? = nil, joinOwners: Set<String> = []
  ) {
    let builder = PhysicalSchemaBuilder(
      model: model, configuration: configuration, actual: actual, joinOwners: joinOwners)
    builder.build()
    self.model = model
    entities = builder.entities
    tables = builder.orderedTables
    indexes = builder.indexes
    triggers = builder.triggers
    underivedAttributes = builder.underivedAttributes
    storages = builder.storages
    entityPositions = builder.entityPositions
    tablePositions = Dictionary(
      zip(builder.orderedTables.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
  }

  package func entity(named name: String) -> PhysicalEntity? {
    entityPositions[name].map { entities[$0] }
  }

  package func entity(numbered number: Int) -> PhysicalEntity? {
    number >= 1 && number <= entities.count ? entities[number - 1] : nil
  }

  package func table(named name: String) -> PhysicalTable? {
    tablePositions[name].map { tables[$0] }
  }

  package func table(ofEntity entity: String) -> PhysicalTable? {
    self.entity(named: entity).flatMap { table(named: $0.table) }
  }

  /// Columns whose names are taken in their table are left out.
  package func adding(_ columns: [String: [PhysicalColumn]]) -> PhysicalSchema {
    var schema = self
    schema.tables = tables.map { table in
      var taken = Set(table.columns.map { $0.name.lowercased() })
      let added = (columns[table.name] ?? []).filter { taken.insert($0.name.lowercased()).inserted }
      return added.isEmpty ? table : PhysicalTable(name: table.name, kind: table.kind, columns: table.columns + added)
    }
    return schema
  }

  package var unknownColumns: [String: [PhysicalColumn]] {
    var columns: [String: [PhysicalColumn]] = [:]
    for table in tables {
      let unknown = table.columns.filter { $0.role == .unknown }
      if !unknown.isEmpty { columns[table.name] = unknown }
    }
    return columns
  }

  /// Core Data's names, by the store's, for join tables that the store names after the other side.
  ///
  /// Those within one entity are left out, because it is unknown which side names them.
  package var misnamedJoins: [String: String] {
    var names: [String: String] = [:]
    for table in tables {
      guard case .links(let owner, let name) = table.kind,
        let relationship = model.relationship(named: name, of: owner),
        let inverse = model.inverse(of: relationship), inverse.entity.name.utf16Precedes(owner),
        let number = entity(named: inverse.entity.name)?.number
      else { continue }
      names[table.name] = PhysicalSchemaBuilder.joinTableName(number: number, relationship: inverse.relationship.name)
    }
    return names
  }

  /// One for each leaf of a composite, in element order; none for a transient attribute.
  package func columns(ofAttribute attribute: String, in entity: String) -> [AttributeColumn] {
    guard case .attribute(let columns)? = storages[entity]?[attribute] else { return [] }
    return columns
  }

  package func column(atPath path: [String], in entity: String) -> AttributeColumn? {
    guard let attribute = path.first else { return nil }
    return columns(ofAttribute: attribute, in: entity).first { $0.path == path }
  }

  package func storage(ofRelationship relationship: String, in entity: String) -> RelationshipStorage? {
    guard case .relationship(let storage)? = storages[entity]?[relationship] else { return nil }
    return storage
  }
}

extension PhysicalSchema {
  package static let bookkeepingStatements: [String] = [
    "CREATE TABLE \(PhysicalName.primaryKeyTable) (\(PhysicalName.entity) INTEGER PRIMARY KEY,"
      + " \(PhysicalName.name) VARCHAR, \(PhysicalName.superentity) INTEGER, \(PhysicalName.maximum) INTEGER)",
    "CREATE TABLE \(PhysicalName.metadataTable) (\(PhysicalName.version) INTEGER PRIMARY KEY,"
      + " \(PhysicalName.uuid) VARCHAR(255), \(PhysicalName.propertyList) BLOB)",
    "CREATE TABLE \(PhysicalName.modelCacheTable) (\(PhysicalName.content) BLOB)",
  ]

  package var tableStatements: [String] { tables.map(\.sql) }

  /// They run after the rows are written.
  package var indexAndTriggerStatements: [String] { indexes.map(\.sql) + triggers.map(\.sql) }

  package var creationStatements: [String] {
    tableStatements + indexAndTriggerStatements + Self.bookkeepingStatements
  }
}
