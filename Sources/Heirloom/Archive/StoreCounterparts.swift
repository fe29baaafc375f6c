import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore

/// The parts of another store that correspond to the parts of a store.
///
/// In stores of one version these are the parts of the same names. Between versions they are those that a migration
/// carries unchanged in both directions: entities and properties that match both ways, of the same type. All other
/// parts have no counterpart, so their values count as missing. If a migration built the store from the other one,
/// attributes are compared with the value that an inferred mapping carries over or fills in.
final class StoreCounterparts {
  let store: ComparedStore
  let other: ComparedStore
  /// `nil` for stores of one version.
  private let matches: (there: ModelCorrespondence, back: ModelCorrespondence)?
  private let isMigrated: Bool

  init(of store: ComparedStore, in other: ComparedStore, isMigrated: Bool) {
    (self.store, self.other, self.isMigrated) = (store, other, isMigrated)
    let isOneVersion = store.metadata.versionHashes == other.metadata.versionHashes
    matches =
      isOneVersion
      ? nil
      : (
        ModelCorrespondence(from: store.schema.model, to: other.schema.model),
        ModelCorrespondence(from: other.schema.model, to: store.schema.model)
      )
  }

  // MARK: Entities

  private func pairs(_ entity: String) -> (there: EntityCorrespondence, back: EntityCorrespondence)? {
    guard let matches, let there = matches.there.pair(ofSource: entity),
      let back = matches.back.pair(ofSource: there.destination.name), back.destination.name == entity
    else { return nil }
    return (there, back)
  }

  func entity(_ name: String) -> String? {
    guard matches != nil else { return other.schema.entity(named: name)?.name }
    return pairs(name)?.there.destination.name
  }

  /// The other store's entity numbers, mapped to the names of the store's own entities.
  private var otherEntityNames: [Int64: String] {
    var names: [Int64: String] = [:]
    for entity in store.schema.entities {
      if let found = self.entity(entity.name).flatMap(other.schema.entity(named:)) {
        names[Int64(found.number)] = entity.name
      }
    }
    // An entity that only the other store has must equal none.
    for entity in other.schema.entities where names[Int64(entity.number)] == nil {
      names[Int64(entity.number)] = "\u{0}" + entity.name
    }
    return names
  }

  // MARK: Properties

  private func relationship(_ name: String, of entity: String) -> (entity: String, name: String)? {
    guard matches != nil else { return (entity, name) }
    guard let pairs = pairs(entity), let found = pairs.there.destinationRelationships[name],
      pairs.back.destinationRelationships[found] == name,
      let destination = store.schema.model.relationship(named: name, of: entity)?.destinationEntity,
      let otherDestination = other.schema.model.relationship(named: found, of: pairs.there.destination.name)?
        .destinationEntity,
      self.entity(destination) == otherDestination
    else { return nil }
    return (pairs.there.destination.name, found)
  }

  /// From a relationship's own columns to those of its counterpart.
  private func columns(ofRelationship name: String, of entity: String) -> (table: String, columns: [String: String])? {
    guard let found = relationship(name, of: entity),
      let own = store.schema.storage(ofRelationship: name, in: entity),
      let others = other.schema.storage(ofRelationship: found.name, in: found.entity)
    else { return nil }
    func pairing(_ pairs: (String?, String?)...) -> (String, [String: String]) {
      var columns: [String: String] = [:]
      for case (let own?, let other?) in pairs { columns[own] = other }
      return (others.table, columns)
    }
    switch (own, others) {
    case (.key(_, let key, let entity), .key(_, let otherKey, let otherEntity)):
      return pairing((key, otherKey), (entity, otherEntity))
    case (.inverseKey(_, _, _, let order), .inverseKey(_, _, _, let otherOrder)):
      return pairing((order, otherOrder))
    case (.inverselessKey(_, let key, let order), .inverselessKey(_, let otherKey, let otherOrder)):
      return pairing((key, otherKey), (order, otherOrder))
    case (.join(_, let owner, let target, let order), .join(_, let otherOwner, let otherTarget, let otherOrder)):
      return pairing((owner, otherOwner), (target, otherTarget), (order, otherOrder))
    default: return nil
    }
  }

  private func column(
    ofAttribute path: [String], of entity: String, external: inout Bool
  ) -> (table: String, column: String)? {
    guard let own = store.schema.column(atPath: path, in: entity) else { return nil }
    var (otherEntity, otherPath): (String, [String]) = (entity, path)
    if matches != nil {
      guard let pairs = pairs(entity), let name = pairs.there.destinationAttributes[path[0]],
        pairs.back.destinationAttributes[name] == path[0],
        let attribute = store.schema.model.attribute(named: path[0], of: entity),
        let otherAttribute = other.schema.model.attribute(named: name, of: pairs.there.destination.name),
        let leaf = AttributeLeaves(from: attribute, to: otherAttribute).leaves.first(where: { $0.sourcePath == path })
      else { return nil }
      (otherEntity, otherPath) = (pairs.there.destination.name, leaf.path)
    }
    guard let found = other.schema.column(atPath: otherPath, in: otherEntity),
      found.attribute.type == own.attribute.type,
      found.attribute.allowsExternalBinaryDataStorage == own.attribute.allowsExternalBinaryDataStorage
    else { return nil }
    external = own.attribute.allowsExternalBinaryDataStorage
    return (found.table, found.name)
  }

  /// Carried over or filled in by an inferred mapping from the other store; `nil` if it isn't
  /// known.
  private func writtenValue(ofAttribute path: [String], of entity: String, in otherTable: String?) -> ComparedRows
    .Column?
  {
    guard isMigrated, let pairs = pairs(entity),
      let attribute = store.schema.model.attribute(named: path[0], of: entity)
    else { return nil }
    let otherEntity = pairs.there.destination.name
    let name = pairs.back.destinationAttributes.first { $0.value == path[0] }?.key
    let otherAttribute = name.flatMap { other.schema.model.attribute(named: $0, of: otherEntity) }
    guard let leaf = AttributeLeaves(from: otherAttribute, to: attribute).leaves.first(where: { $0.path == path }),
      !leaf.leaf.allowsExternalBinaryDataStorage
    else { return nil }
    var value = leaf.leaf.defaultValue.map { ValueConversion.literal($0, for: leaf.leaf) }
    if let sourcePath = leaf.sourcePath, let sourceLeaf = leaf.sourceLeaf {
      guard !sourceLeaf.allowsExternalBinaryDataStorage,
        let column = other.schema.column(atPath: sourcePath, in: otherEntity), column.table == otherTable
      else { return nil }
      let sql = "r.\(quote(column.name))"
      func entry(mustFill: Bool) -> CellEntry {
        ValueConversion.entry(column: sql, from: sourceLeaf, to: leaf.leaf, mustFill: mustFill)
      }
      // A converted value differs from the stored one.
      guard entry(mustFill: false).isVerbatim else { return nil }
      value = entry(mustFill: !leaf.isOptional && leaf.isSourceOptional).sql
    }
    // Rows of other entities in the table have no value in the column.
    let numbers = store.schema.entities.filter { store.schema.model.isEntity($0.name, kindOf: entity) }
      .compactMap { self.entity($0.name).flatMap(other.schema.entity(named:))?.number }
    guard let value, !numbers.isEmpty else { return nil }
    let list = numbers.map(String.init).joined(separator: ", ")
    return .computed("CASE WHEN r.\(quote(PhysicalName.entity)) IN (\(list)) THEN \(value) END")
  }

  // MARK: Tables

  func rows(of table: PhysicalTable) -> (own: ComparedRows, others: ComparedRows?)? {
    guard let actual = store.actual.table(named: table.name) else { return nil }
    let otherName = counterpart(of: table)
    let otherActual = otherName.flatMap(other.actual.table(named:))
    let (names, otherNames) = (store.entityNames, otherEntityNames)
    var own: [ComparedRows.Column] = []
    var others: [ComparedRows.Column] = []
    var group: Int?
    // If both tables hold objects of one entity only, Core Data ignores the entity numbers in the rows.
    let only =
      otherName.flatMap(other.schema.onlyNumber) == nil ? nil : store.schema.onlyNumber(inTable: table.name)
    for column in actual.columns where !column.isGenerated {
      let role = table.column(named: column.name)?.role ?? .unknown
      // Two columns of Core Data's hold no value of the object: its number of saves, and the entity of an object that
      // is found by the key beside it.
      if role == .optimisticLock { continue }
      if case .keyEntity = role { continue }
      if case .attribute(let entity, let path) = role, isMigrated {
        // A derived value depends on other values.
        if store.schema.model.attribute(named: path[0], of: entity)?.derivation != nil { continue }
        if let written = writtenValue(ofAttribute: path, of: entity, in: otherName) {
          own.append(.value(column.name))
          others.append(written)
          continue
        }
      }
      var isExternal = false
      let found = counterpart(of: column.name, role: role, external: &isExternal)
      let otherColumn = found.flatMap { found in
        found.table == nil || found.table == otherName ? otherActual?.column(named: found.column)?.name : nil
      }
      if role == .entity, !table.isJoin { group = own.count }
      switch role {
      case .entity where only != nil:
        own.append(.computed("\(only ?? 0)"))
        others.append(.computed("\(only ?? 0)"))
      case .entity:
        own.append(.entity(column.name, names: names))
        others.append(otherColumn.map { .entity($0, names: otherNames) } ?? .none)
      default:
        own.append(isExternal ? .external(column.name) : .value(column.name))
        others.append(otherColumn.map { isExternal ? .external($0) : .value($0) } ?? .none)
      }
    }
    var rows = ComparedRows(store: store, table: table.name, columns: own)
    rows.group = group
    return (rows, otherActual.map { ComparedRows(store: other, table: $0.name, columns: others) })
  }

  private func counterpart(of table: PhysicalTable) -> String? {
    switch table.kind {
    case .objects(let root): entity(root).flatMap(other.schema.table(ofEntity:))?.name
    case .links(let entity, let relationship): columns(ofRelationship: relationship, of: entity)?.table
    }
  }

  /// The table is `nil` if the column is in the counterpart of its own table.
  private func counterpart(
    of name: String, role: PhysicalColumn.Role, external: inout Bool
  ) -> (table: String?, column: String)? {
    switch role {
    case .primaryKey, .entity, .unknown: return (nil, name)
    case .optimisticLock: return nil
    case .attribute(let entity, let path):
      return column(ofAttribute: path, of: entity, external: &external).map { ($0.table, $0.column) }
    case .key(let entity, let relationship), .keyEntity(let entity, let relationship),
      .inverselessKey(let entity, let relationship), .order(let entity, let relationship),
      .joinKey(let entity, let relationship), .reflexiveKey(let entity, let relationship):
      guard let found = columns(ofRelationship: relationship, of: entity) else { return nil }
      return found.columns[name].map { (found.table, $0) }
    }
  }

  /// For a table outside the model.
  func rows(of table: ActualTable) -> (own: ComparedRows, others: ComparedRows?) {
    let otherTable = other.actual.table(named: table.name).flatMap { $0.isVirtual ? nil : $0 }
    let (names, otherNames) = (store.entityNames, otherEntityNames)
    let isFramework =
      ActualSchema.historyTables.contains(table.name) || table.name.hasPrefix(PhysicalName.cloudKitPrefix)
    var own: [ComparedRows.Column] = []
    var others: [ComparedRows.Column] = []
    for column in table.columns where !column.isGenerated {
      let found = otherTable?.column(named: column.name)?.name
      // History and CloudKit tables contain entity numbers of the model, which differ between versions.
      if isFramework, [PhysicalName.changedEntity, PhysicalName.mirroredEntity].contains(column.name) {
        own.append(.entity(column.name, names: names))
        others.append(found.map { .entity($0, names: otherNames) } ?? .none)
      } else {
        own.append(.value(column.name))
        others.append(found.map { .value($0) } ?? .none)
      }
    }
    // Other rows may refer to these by rowid. A result can't have more columns than a table.
    if ActualColumn.rowNumber(in: table.columns) == nil, own.count < 2_000,
      let number = store.connection.rowNumber(of: table.name, table.columns)
    {
      own.append(.computed("r.\(number)"))
      let found = otherTable.flatMap { other.connection.rowNumber(of: $0.name, $0.columns) }
      others.append(found.map { .computed("r.\($0)") } ?? .none)
    }
    return (
      ComparedRows(store: store, table: table.name, columns: own),
      otherTable.map { ComparedRows(store: other, table: $0.name, columns: others) }
    )
  }

  /// Foreign content of one of Core Data's own tables: values in extra columns, and extra rows.
  func rows(
    ofBookkeeping name: String, key: String?, known: [String]
  ) -> [(own: ComparedRows, others: ComparedRows?)] {
    let otherTable = other.actual.table(named: name)
    let more = store.actual.otherColumns(of: name, besides: known).map(\.name)
    let strangers = store.actual.strangers(
      in: name, entities: store.schema.entities.count, frameworkNumber: PhysicalName.firstFrameworkNumber)
    let hasValue = more.isEmpty ? nil : more.map { "r.\(quote($0)) IS NOT NULL" }.joined(separator: " OR ")
    return [([key].compactMap(\.self) + more, hasValue), (known, strangers)].compactMap { columns, condition in
      guard let condition, columns.allSatisfy({ store.actual.table(named: name)?.column(named: $0) != nil }) else {
        return nil
      }
      var own = ComparedRows(store: store, table: name, columns: columns.map { .value($0) })
      own.condition = condition
      return (
        own,
        otherTable.map { otherTable in
          ComparedRows(
            store: other, table: name,
            columns: columns.map { otherTable.column(named: $0) == nil ? .none : .value($0) })
        }
      )
    }
  }
}
