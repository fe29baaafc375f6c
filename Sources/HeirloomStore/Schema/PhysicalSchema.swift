package import HeirloomModel

/// The tables, indexes and triggers in which a store keeps the objects of a model.
///
/// Core Data computes them from the model and does not read names from the file. A store that it is to open must have
/// exactly these.
package struct PhysicalSchema: Sendable {
  /// The model.
  package let model: ManagedObjectModel
  /// The entities in the order of their numbers.
  package let entities: [PhysicalEntity]
  /// The tables in the order in which they are created.
  package private(set) var tables: [PhysicalTable]
  /// The indexes in the order in which they are created.
  package let indexes: [PhysicalIndex]
  /// The triggers of derived attributes and R-trees in the order in which they are created.
  package let triggers: [PhysicalTrigger]
  /// The derived attributes whose expression has no known trigger, each as entity and attribute.
  package let underivedAttributes: [[String]]

  private let entityPositions: [String: Int]
  private let tablePositions: [String: Int]
  /// The storage by entity and property, inherited properties included.
  private let storages: [String: [String: PropertyStorage]]

  enum PropertyStorage: Hashable, Sendable {
    case attribute([AttributeColumn])
    case relationship(RelationshipStorage)
  }

  /// Derives the schema of a model, for the entities of a configuration or for all.
  ///
  /// The schema of an existing store decides which side names the table of a many-to-many relationship. Within one
  /// entity that can't be derived, and elsewhere a store may have the other name. Without it, `joinOwners` decides,
  /// relationships as `Entity.relationship`: a migration keeps the side that the store had.
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

  // MARK: Entities

  /// Returns the entity of the given name, or `nil`.
  package func entity(named name: String) -> PhysicalEntity? {
    entityPositions[name].map { entities[$0] }
  }

  /// Returns the entity of the given number, or `nil`.
  package func entity(numbered number: Int) -> PhysicalEntity? {
    number >= 1 && number <= entities.count ? entities[number - 1] : nil
  }

  // MARK: Tables

  /// Returns the table of the given name, or `nil`.
  package func table(named name: String) -> PhysicalTable? {
    tablePositions[name].map { tables[$0] }
  }

  /// Returns the table with the objects of an entity, or `nil` for an unknown one.
  package func table(ofEntity entity: String) -> PhysicalTable? {
    self.entity(named: entity).flatMap { table(named: $0.table) }
  }

  /// Returns the schema with further columns at the end of tables; columns whose names are taken there are left out.
  package func adding(_ columns: [String: [PhysicalColumn]]) -> PhysicalSchema {
    var schema = self
    schema.tables = tables.map { table in
      var taken = Set(table.columns.map { $0.name.lowercased() })
      let added = (columns[table.name] ?? []).filter { taken.insert($0.name.lowercased()).inserted }
      return added.isEmpty ? table : PhysicalTable(name: table.name, kind: table.kind, columns: table.columns + added)
    }
    return schema
  }

  /// The columns that the model doesn't know, by table; tables without any are left out.
  package var unknownColumns: [String: [PhysicalColumn]] {
    var columns: [String: [PhysicalColumn]] = [:]
    for table in tables {
      let unknown = table.columns.filter { $0.role == .unknown }
      if !unknown.isEmpty { columns[table.name] = unknown }
    }
    return columns
  }

  /// Core Data's names for the join tables that the store names after the other side, by the store's names.
  ///
  /// Join tables within one entity are left out, because it is unknown which side names those.
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

  // MARK: Properties

  /// Returns the columns of an attribute that an entity has or inherits.
  ///
  /// There is one column, or one for each leaf of a composite in element order; none for a transient attribute or an
  /// unknown name.
  package func columns(ofAttribute attribute: String, in entity: String) -> [AttributeColumn] {
    guard case .attribute(let columns)? = storages[entity]?[attribute] else { return [] }
    return columns
  }

  /// Returns the column of an attribute, or of a composite's leaf at a path; `nil` if nothing is stored there.
  package func column(atPath path: [String], in entity: String) -> AttributeColumn? {
    guard let attribute = path.first else { return nil }
    return columns(ofAttribute: attribute, in: entity).first { $0.path == path }
  }

  /// Returns the storage of a relationship that an entity has or inherits; `nil` for a transient or unknown one.
  package func storage(ofRelationship relationship: String, in entity: String) -> RelationshipStorage? {
    guard case .relationship(let storage)? = storages[entity]?[relationship] else { return nil }
    return storage
  }
}

// MARK: - Statements

extension PhysicalSchema {
  /// The statements that create the three tables that every store has besides those of its model.
  package static let bookkeepingStatements: [String] = [
    "CREATE TABLE \(PhysicalName.primaryKeyTable) (\(PhysicalName.entity) INTEGER PRIMARY KEY,"
      + " \(PhysicalName.name) VARCHAR, \(PhysicalName.superentity) INTEGER, \(PhysicalName.maximum) INTEGER)",
    "CREATE TABLE \(PhysicalName.metadataTable) (\(PhysicalName.version) INTEGER PRIMARY KEY,"
      + " \(PhysicalName.uuid) VARCHAR(255), \(PhysicalName.propertyList) BLOB)",
    "CREATE TABLE \(PhysicalName.modelCacheTable) (\(PhysicalName.content) BLOB)",
  ]

  /// The statements that create the tables of the model.
  package var tableStatements: [String] { tables.map(\.sql) }

  /// The statements that create indexes, R-trees included, and triggers; they run after the rows are written.
  package var indexAndTriggerStatements: [String] { indexes.map(\.sql) + triggers.map(\.sql) }

  /// All statements of a fresh store, in the order in which Core Data runs them.
  package var creationStatements: [String] {
    tableStatements + indexAndTriggerStatements + Self.bookkeepingStatements
  }
}
