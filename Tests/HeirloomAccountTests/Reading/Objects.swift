struct ObjectKey: Hashable, Comparable {
  let table: String
  let key: Int64

  static func < (left: Self, right: Self) -> Bool { (left.table, left.key) < (right.table, right.key) }
}

struct Objects {
  /// By table and key.
  let entities: [String: [Int64: String]]
  /// Of exactly that entity, ascending.
  let byEntity: [String: [ObjectKey]]

  init(in contents: Contents, _ layout: Layout) {
    var entities: [String: [Int64: String]] = [:]
    for table in Set(layout.tables.values) {
      let numbers = contents.values(of: "Z_ENT", in: table)
      entities[table] = numbers.compactMapValues { $0.integer.flatMap { layout.entitiesByNumber[$0] } }
        .filter { layout.tables[$0.value] == table }
    }
    self.entities = entities
    var byEntity: [String: [ObjectKey]] = [:]
    for (table, objects) in entities {
      for (key, entity) in objects { byEntity[entity, default: []].append(ObjectKey(table: table, key: key)) }
    }
    self.byEntity = byEntity.mapValues { $0.sorted() }
  }

  func contains(_ object: ObjectKey) -> Bool { entities[object.table]?[object.key] != nil }

  func entity(_ object: ObjectKey) -> String? { entities[object.table]?[object.key] }

  /// Objects without a value are left out.
  func cells(of attribute: String, in contents: Contents, _ layout: Layout) -> [ObjectKey: Cell] {
    var cells: [ObjectKey: Cell] = [:]
    for (entity, objects) in byEntity {
      guard let declared = layout.attributes[entity]?.first(where: { $0.property.name == attribute }),
        let column = layout.columns[Layout.Name(entity: declared.entity, property: attribute)]
      else { continue }
      for object in objects { cells[object] = contents.values(of: column, in: object.table)[object.key] }
    }
    return cells
  }
}
