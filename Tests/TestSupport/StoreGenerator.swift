package import Foundation
package import HeirloomModel
import HeirloomStore

/// A generator of stores of any model, with objects, values and links from a seed: equal seeds give equal stores.
package struct StoreGenerator {
  package var objectsPerEntity: Int
  /// Entities have different numbers of objects, or none; values repeat and lie at the edges of
  /// types.
  package var isVaried: Bool = false
  /// All values and to-one links are there, required or not.
  package var isFull: Bool = false
  private var random: SplitMix64

  package init(objectsPerEntity: Int, seed: UInt64) {
    self.objectsPerEntity = objectsPerEntity
    random = SplitMix64(seed: seed)
  }

  package static func makeStore(
    at url: URL, model: ManagedObjectModel, objects: Int, seed: UInt64, isVaried: Bool = false, isFull: Bool = false
  ) throws {
    var generator = StoreGenerator(objectsPerEntity: objects, seed: seed)
    (generator.isVaried, generator.isFull) = (isVaried, isFull)
    try generator.makeStore(at: url, model: model)
  }

  package mutating func makeStore(at url: URL, model: ManagedObjectModel) throws {
    let connection = try Connection(path: url.path, mode: .createExclusively(), options: .building)
    let schema = PhysicalSchema(model: model)
    try connection.execute("PRAGMA auto_vacuum = 2")
    try connection.registerCoreDataFunctions()
    try connection.execute("BEGIN")
    for sql in schema.creationStatements { try connection.execute(sql) }
    var keys: [String: [Int64]] = [:]
    for root in model.rootEntities { keys.merge(try insertTree(root, schema, connection)) { $1 } }
    try insertLinks(keys, schema, connection)
    for entity in schema.entities {
      let isRoot = entity.superentityNumber == 0
      let tree = isRoot ? model.entityTree(from: entity.name) : []
      try connection.execute(
        "INSERT INTO Z_PRIMARYKEY VALUES (?1, ?2, ?3, ?4)",
        [
          .integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superentityNumber)),
          .integer(tree.flatMap { keys[$0.name] ?? [] }.max() ?? 0),
        ])
    }
    try StoreMetadata(model: model).write(to: connection)
    try connection.execute("COMMIT")
    try connection.close()
  }

  private mutating func insertTree(
    _ root: EntityDescription, _ schema: PhysicalSchema, _ connection: Connection
  ) throws -> [String: [Int64]] {
    var keys: [String: [Int64]] = [:]
    var next: Int64 = 1
    for entity in schema.model.entityTree(from: root.name) where !entity.isAbstract {
      guard let place = schema.entity(named: entity.name) else { continue }
      let constrained = Set(
        schema.model.entities.filter { $0.name == entity.name || schema.model.isEntity(entity.name, kindOf: $0.name) }
          .flatMap { $0.uniquenessConstraints.joined() })
      let objects = isVaried ? [0, 1, objectsPerEntity, objectsPerEntity][random.below(4)] : objectsPerEntity
      for _ in 0..<objects {
        var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
        var values: [SQLiteValue] = [
          .integer(next), .integer(Int64(place.number)), .integer(Int64(random.below(5)) + 1),
        ]
        for attribute in schema.model.attributes(of: entity.name) {
          for column in schema.columns(ofAttribute: attribute.name, in: entity.name) {
            columns.append(column.name)
            let mayBeAbsent = column.attribute.isOptional || attribute.isOptional
            values.append(
              !isFull && mayBeAbsent && random.below(4) == 0
                ? .null
                : isVaried && !constrained.contains(attribute.name)
                  ? RandomValues.stored(column.attribute, using: &random) : value(of: column.attribute, number: next))
          }
        }
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let names = columns.map(quote).joined(separator: ", ")
        try connection.execute("INSERT INTO \(quote(place.table)) (\(names)) VALUES (\(places))", values)
        keys[entity.name, default: []].append(next)
        // Gaps, as deletions leave them.
        next += 1 + Int64(random.below(3))
      }
    }
    return keys
  }

  /// `number` makes an entity's values differ, as uniqueness constraints ask for.
  private mutating func value(of attribute: AttributeDescription, number: Int64) -> SQLiteValue {
    let tag: [UInt8] = attribute.allowsExternalBinaryDataStorage ? [1] : []
    switch attribute.type {
    case .integer16: return .integer(Int64(Int16(truncatingIfNeeded: number &* 31 &- 9)))
    case .integer32, .integer64: return .integer(number &* 1009 &- 7)
    case .boolean: return .integer(Int64(random.below(2)))
    case .double, .float, .decimal: return .real(Double(number) * 1.5 - 2)
    case .date: return .real(600_000_000 + Double(number) + 0.25)
    case .string: return .text(["", "é ", "it's ", "\u{1F600} "][random.below(4)] + "text \(number)")
    case .uri: return .text("https://example.invalid/\(number)")
    case .uuid: return .blob((0..<16).map { UInt8(truncatingIfNeeded: Int64($0) &* 17 &+ number) })
    case .binary: return .blob(tag + (0..<random.below(40)).map { UInt8(truncatingIfNeeded: Int64($0) &+ number) })
    case .transformable: return .blob(Array("bplist00".utf8) + [UInt8(truncatingIfNeeded: number)])
    case .undefined, .objectID, .composite: return .null
    }
  }

  private mutating func insertLinks(
    _ keys: [String: [Int64]], _ schema: PhysicalSchema, _ connection: Connection
  ) throws {
    let model = schema.model
    var done: Set<String> = []
    for entity in model.entities {
      for relationship in entity.relationships {
        let inverse = model.inverse(of: relationship)
        let name = "\(entity.name).\(relationship.name)"
        let other = inverse.map { "\($0.entity.name).\($0.relationship.name)" } ?? name
        guard let storage = schema.storage(ofRelationship: relationship.name, in: entity.name) else { continue }
        let owners = model.entityTree(from: entity.name).flatMap { owner in keys[owner.name] ?? [] }
        let targets = model.entityTree(from: relationship.destinationEntity).flatMap { target in
          (keys[target.name] ?? []).map { (key: $0, number: schema.entity(named: target.name)?.number ?? 0) }
        }
        guard !targets.isEmpty else { continue }
        switch storage {
        case .key(let table, let column, let entityColumn):
          let isOneToOne = inverse.map { !$0.relationship.isToMany } ?? false
          if isOneToOne, done.contains(other) { continue }
          var free = targets
          for owner in owners where isFull || !relationship.isOptional || random.below(4) != 0 {
            guard !free.isEmpty else { break }
            let index = random.below(free.count)
            let target = isOneToOne ? free.remove(at: index) : free[index]
            try link(connection, table, owner, column, entityColumn, target)
            if isOneToOne, other != name, let inverse,
              case .key(let table, let column, let entityColumn)? = schema.storage(
                ofRelationship: inverse.relationship.name, in: inverse.entity.name)
            {
              let number = try connection.firstInteger(
                "SELECT Z_ENT FROM \(quote(schema.table(ofEntity: entity.name)?.name ?? "")) WHERE Z_PK = ?1",
                [.integer(owner)])
              try link(connection, table, target.key, column, entityColumn, (owner, Int(number ?? 0)))
            }
          }
        case .inverselessKey(let table, let column, let order):
          guard let owner = owners.first else { continue }
          for (place, target) in targets.enumerated() where random.below(3) != 0 {
            try set(connection, table, target.key, column, owners[random.below(owners.count)])
            _ = owner
            if let order { try set(connection, table, target.key, order, Int64(2048 + 1024 * place)) }
          }
        case .join(let table, let ownerColumn, let targetColumn, let order):
          if done.contains(other) { continue }
          let inverseOrder = inverse.flatMap {
            schema.storage(ofRelationship: $0.relationship.name, in: $0.entity.name)?.orderColumn
          }
          for owner in owners {
            for (place, target) in targets.shuffled(using: &random).prefix(random.below(4)).enumerated() {
              var columns = [ownerColumn, targetColumn]
              var values: [SQLiteValue] = [.integer(owner), .integer(target.key)]
              if let order {
                columns.append(order)
                values.append(.integer(Int64(2048 + 1024 * place)))
              }
              if let inverseOrder, inverseOrder != order {
                columns.append(inverseOrder)
                values.append(.integer(Int64(2048 + 1024 * random.below(9999))))
              }
              let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
              try connection.execute(
                "INSERT OR IGNORE INTO \(quote(table)) (\(columns.map(quote).joined(separator: ", "))) VALUES (\(places))",
                values)
            }
          }
        case .inverseKey(let table, let column, _, let order):
          // The other side sets the keys; here members get their positions, in an order that is not that of their keys.
          guard let order else { continue }
          orders.append((table, column, order))
        }
        done.insert(name)
      }
    }
    for (table, column, order) in orders {
      try connection.execute(
        "UPDATE \(quote(table)) SET \(quote(order)) = 2048 + 1024 * (1000 - Z_PK) WHERE \(quote(column)) NOT NULL")
    }
    orders = []
  }

  private var orders: [(table: String, column: String, order: String)] = []

  private func link(
    _ connection: Connection, _ table: String, _ owner: Int64, _ column: String, _ entityColumn: String?,
    _ target: (key: Int64, number: Int)
  ) throws {
    try set(connection, table, owner, column, target.key)
    if let entityColumn { try set(connection, table, owner, entityColumn, Int64(target.number)) }
  }

  private func set(_ connection: Connection, _ table: String, _ key: Int64, _ column: String, _ value: Int64) throws {
    try connection.execute(
      "UPDATE \(quote(table)) SET \(quote(column)) = ?2 WHERE Z_PK = ?1", [.integer(key), .integer(value)])
  }
}
