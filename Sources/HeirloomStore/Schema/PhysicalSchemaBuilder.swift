import HeirloomModel

/// The rules are those of the page "Core Data's layout", sections 1 to 3.
final class PhysicalSchemaBuilder {
  let model: ManagedObjectModel
  let actual: ActualSchema?
  /// As `Entity.relationship`: they name the join table if nothing else decides.
  let joinOwners: Set<String>
  let included: Set<String>

  var entities: [PhysicalEntity] = []
  var entityPositions: [String: Int] = [:]
  var storages: [String: [String: PhysicalSchema.PropertyStorage]] = [:]
  var indexes: [PhysicalIndex] = []
  var triggers: [PhysicalTrigger] = []
  var underivedAttributes: [[String]] = []

  /// In the order of their numbers.
  var roots: [String] = []
  var drafts: [String: [DraftColumn]] = [:]
  var usedColumnNames: [String: Set<String>] = [:]
  var keyColumns: [PropertyName: KeyColumns] = [:]
  var joins: [JoinTable] = []

  struct PropertyName: Hashable {
    let entity: String
    let property: String
  }

  struct KeyColumns {
    let key: String
    let entity: String?
  }

  struct JoinTable {
    let table: PhysicalTable
    let owner: PropertyName
    let firstColumn: String
    let secondColumn: String
  }

  struct DraftColumn {
    let column: PhysicalColumn
    let order: ColumnClass
  }

  /// The order of columns in a fresh table; within a class they keep the order of the list.
  enum ColumnClass: Int, Comparable {
    case integer, order, inverseless, floating, decimal, string, uri, uuid, transformable, binary

    init?(_ type: AttributeType) {
      switch type {
      case .integer16, .integer32, .integer64, .boolean: self = .integer
      case .double, .float, .date: self = .floating
      case .decimal: self = .decimal
      case .string: self = .string
      case .uri: self = .uri
      case .uuid: self = .uuid
      case .transformable: self = .transformable
      case .binary: self = .binary
      case .undefined, .objectID, .composite: return nil
      }
    }

    static func < (left: ColumnClass, right: ColumnClass) -> Bool { left.rawValue < right.rawValue }
  }

  init(model: ManagedObjectModel, configuration: String?, actual: ActualSchema?, joinOwners: Set<String>) {
    self.model = model
    self.actual = actual
    self.joinOwners = joinOwners
    var included: Set<String> = []
    for entity in model.entities(inConfiguration: configuration) ?? [] {
      included.insert(entity.name)
      // Objects live in the table of their root, so the root is included whether or not the configuration lists it.
      for parent in model.superentities(of: entity.name) { included.insert(parent.name) }
    }
    self.included = included
  }

  func build() {
    numberEntities()
    for root in roots { addOwnColumns(of: root) }
    addInverselessColumns()
    addOrderColumns()
    makeJoinTables()
    collectStorages()
    makeIndexes()
    makeTriggers()
  }

  // MARK: Entities

  private func numberEntities() {
    var tableNames: Set<String> = [
      PhysicalName.primaryKeyTable, PhysicalName.metadataTable, PhysicalName.modelCacheTable,
    ]
    for root in model.rootEntities where included.contains(root.name) {
      roots.append(root.name)
      let table = Self.unique("Z" + root.name.uppercased(), in: &tableNames)
      number(root, root: root.name, table: table, parent: 0)
    }
    for (position, entity) in entities.enumerated() { entityPositions[entity.name] = position }
  }

  private func number(_ entity: EntityDescription, root: String, table: String, parent: Int) {
    let position = entities.count
    let number = position + 1
    func physical(last: Int) -> PhysicalEntity {
      PhysicalEntity(
        name: entity.name, number: number, superentityNumber: parent, rootName: root, table: table,
        treeNumbers: number...last, isAbstract: entity.isAbstract)
    }
    entities.append(physical(last: number))
    for subentity in model.subentities(of: entity.name) where included.contains(subentity.name) {
      self.number(subentity, root: root, table: table, parent: number)
    }
    entities[position] = physical(last: entities.count)
  }

  func entity(_ name: String) -> PhysicalEntity? {
    entityPositions[name].map { entities[$0] }
  }

  func tree(of root: String) -> [EntityDescription] {
    guard let numbers = entity(root)?.treeNumbers else { return [] }
    return numbers.compactMap { model.entity(named: entities[$0 - 1].name) }
  }

  // MARK: Columns

  /// For attributes and for to-one relationships' keys and entity numbers, named in list order.
  private func addOwnColumns(of root: String) {
    var used: Set<String> = [PhysicalName.primaryKey, PhysicalName.entity, PhysicalName.optimisticLock]
    var list: [DraftColumn] = []
    for entity in tree(of: root) {
      for attribute in entity.attributes {
        var columns: [AttributeColumn] = []
        addLeaves(of: attribute, path: [], entity: entity.name, used: &used, list: &list, columns: &columns)
        if !columns.isEmpty { storages[entity.name, default: [:]][attribute.name] = .attribute(columns) }
      }
      for relationship in entity.relationships where isStored(relationship) && !relationship.isToMany {
        let name = Self.unique("Z" + relationship.name.uppercased(), in: &used)
        let role = PhysicalColumn.Role.key(entity: entity.name, relationship: relationship.name)
        list.append(DraftColumn(column: PhysicalColumn(name: name, type: .integer, role: role), order: .integer))
        var entityColumn: String?
        if let destination = self.entity(relationship.destinationEntity), destination.treeNumbers.count > 1 {
          let name = Self.unique("Z\(destination.number)_\(name.dropFirst())", in: &used)
          let role = PhysicalColumn.Role.keyEntity(entity: entity.name, relationship: relationship.name)
          list.append(DraftColumn(column: PhysicalColumn(name: name, type: .integer, role: role), order: .integer))
          entityColumn = name
        }
        let property = PropertyName(entity: entity.name, property: relationship.name)
        keyColumns[property] = KeyColumns(key: name, entity: entityColumn)
      }
    }
    usedColumnNames[root] = used
    drafts[root] = list
  }

  private func addLeaves(
    of attribute: AttributeDescription, path: [String], entity: String, used: inout Set<String>,
    list: inout [DraftColumn], columns: inout [AttributeColumn]
  ) {
    guard !attribute.isTransient else { return }
    let path = path + [attribute.name]
    if let composite = attribute.composite {
      for element in composite.elements {
        addLeaves(of: element, path: path, entity: entity, used: &used, list: &list, columns: &columns)
      }
      return
    }
    guard let type = SQLColumnType(attribute.type), let order = ColumnClass(attribute.type),
      let table = self.entity(entity)?.table
    else { return }
    // A leaf's column is named after the leaf alone.
    let name = Self.unique("Z" + attribute.name.uppercased(), in: &used)
    let role = PhysicalColumn.Role.attribute(entity: entity, path: path)
    list.append(DraftColumn(column: PhysicalColumn(name: name, type: type, role: role), order: order))
    columns.append(AttributeColumn(path: path, attribute: attribute, table: table, name: name, type: type))
  }

  private func addInverselessColumns() {
    for (owner, relationship) in toManyRelationships() where inverse(of: relationship, in: owner.name) == nil {
      guard let destination = entity(relationship.destinationEntity), let number = entity(owner.name)?.number
      else { continue }
      let root = destination.rootName
      let property = "\(number)\(relationship.name.uppercased())"
      let name = Self.unique("Z" + property, in: &usedColumnNames[root, default: []])
      append(name, .inverselessKey(entity: owner.name, relationship: relationship.name), .inverseless, to: root)
      var orderColumn: String?
      if relationship.isOrdered {
        let order = Self.unique(
          PhysicalName.orderPrefix + name.dropFirst(), in: &usedColumnNames[root, default: []])
        append(order, .order(entity: owner.name, relationship: relationship.name), .inverseless, to: root)
        orderColumn = order
      }
      storages[owner.name, default: [:]][relationship.name] = .relationship(
        .inverselessKey(table: destination.table, column: name, orderColumn: orderColumn))
    }
  }

  private func addOrderColumns() {
    for (owner, relationship) in toManyRelationships() {
      guard let inverse = inverse(of: relationship, in: owner.name), !inverse.relationship.isToMany,
        let destination = entity(inverse.entity.name),
        let keys = keyColumns[PropertyName(entity: inverse.entity.name, property: inverse.relationship.name)]
      else { continue }
      var orderColumn: String?
      if relationship.isOrdered {
        let root = destination.rootName
        let name = Self.unique(
          PhysicalName.orderPrefix + keys.key.dropFirst(), in: &usedColumnNames[root, default: []])
        append(name, .order(entity: owner.name, relationship: relationship.name), .order, to: root)
        orderColumn = name
      }
      storages[owner.name, default: [:]][relationship.name] = .relationship(
        .inverseKey(
          table: destination.table, column: keys.key, entityColumn: keys.entity, orderColumn: orderColumn))
    }
  }

  private func append(
    _ name: String, _ role: PhysicalColumn.Role, _ order: ColumnClass, to root: String
  ) {
    let column = PhysicalColumn(name: name, type: .integer, role: role)
    drafts[root, default: []].append(DraftColumn(column: column, order: order))
  }

  /// Core Data's order is that of a hash table; descending names are the nearest simple rule.
  func toManyRelationships() -> [(EntityDescription, RelationshipDescription)] {
    model.entities.filter { included.contains($0.name) }.flatMap { entity in
      entity.relationships.reversed().filter { isStored($0) && $0.isToMany }.map { (entity, $0) }
    }
  }

  // MARK: Relationships

  func isStored(_ relationship: RelationshipDescription) -> Bool {
    !relationship.isTransient && included.contains(relationship.destinationEntity)
  }

  /// `nil` unless the inverse is stored and names the relationship as its own inverse.
  func inverse(
    of relationship: RelationshipDescription, in entity: String
  ) -> (entity: EntityDescription, relationship: RelationshipDescription)? {
    guard let inverse = model.inverse(of: relationship), isStored(inverse.relationship),
      inverse.relationship.inverseRelationship == relationship.name,
      model.declaringEntity(ofProperty: relationship.name, in: inverse.relationship.destinationEntity)?.name == entity
    else { return nil }
    return inverse
  }

  // MARK: Results

  /// In Core Data's order: each table of objects, then the join tables that it names.
  var orderedTables: [PhysicalTable] {
    roots.flatMap { root -> [PhysicalTable] in
      guard let table = objectTable(of: root), let numbers = entity(root)?.treeNumbers else { return [] }
      let links = joins.filter { join in entity(join.owner.entity).map { numbers.contains($0.number) } ?? false }
      return [table] + links.map(\.table)
    }
  }

  private func objectTable(of root: String) -> PhysicalTable? {
    guard let name = entity(root)?.table else { return nil }
    let system: [PhysicalColumn] = [
      PhysicalColumn(name: PhysicalName.primaryKey, type: .integer, role: .primaryKey),
      PhysicalColumn(name: PhysicalName.entity, type: .integer, role: .entity),
      PhysicalColumn(name: PhysicalName.optimisticLock, type: .integer, role: .optimisticLock),
    ]
    let list = drafts[root] ?? []
    let sorted = list.enumerated().ordered { left, right in
      left.element.order == right.element.order
        ? left.offset < right.offset : left.element.order < right.element.order
    }
    return PhysicalTable(
      name: name, kind: .objects(rootEntity: root), columns: system + sorted.map(\.element.column))
  }

  private func collectStorages() {
    for (property, columns) in keyColumns {
      guard let table = entity(property.entity)?.table else { continue }
      storages[property.entity, default: [:]][property.property] = .relationship(
        .key(table: table, column: columns.key, entityColumn: columns.entity))
    }
    // Parents have lower numbers, so their storages are complete.
    for entity in entities where entity.superentityNumber > 0 {
      let parent = entities[entity.superentityNumber - 1].name
      storages[entity.name, default: [:]].merge(storages[parent] ?? [:]) { own, _ in own }
    }
  }

  /// A taken name gets the lowest number from 1 on that makes it unique.
  static func unique(_ name: String, in used: inout Set<String>) -> String {
    var candidate = name
    var suffix = 0
    while !used.insert(candidate).inserted {
      suffix += 1
      candidate = "\(name)\(suffix)"
    }
    return candidate
  }
}
