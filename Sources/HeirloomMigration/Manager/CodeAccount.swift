import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The record of what code read of each source object that it was given, and of what the default copied.
///
/// It decides the losses of ``PendingCells`` and ``PendingLinks``.
final class CodeAccount {
  /// The numbers of a mapping's sets of objects.
  struct Deeds {
    let given: Int
    /// The objects from which the default made destination objects.
    let made: Int
    let related: Int
    let products: Int
  }

  let setting: RowRunSetting
  let associations: Associations
  let sets: ObjectSets
  let runs: [RowMapping]
  /// Only for mappings that run object by object, with the names of their source entities.
  private(set) var deeds: [String: (source: String, sets: Deeds)] = [:]
  private(set) var reads: [String: PropertyReads] = [:]
  let undone: UndoneWork
  let orders: [PendingOrder]
  var candidate: CandidateLinks?
  /// By index in `pendingLinks`.
  var foundLinks: [Int: FoundLinks] = [:]
  /// By index in `orders`.
  var foundOrders: [Int: FoundLinks] = [:]
  private var counts: [Int: Int64] = [:]

  /// `nil` if no code is given objects.
  init?(_ runs: [RowMapping], setting: RowRunSetting, associations: Associations) throws {
    let parts = setting.parts
    let byCode = runs.filter { $0.mapping.entityMigrationPolicyClassName != nil }
    guard !byCode.isEmpty || !parts.pendingCells.isEmpty || !parts.pendingLinks.isEmpty else { return nil }
    (self.setting, self.associations) = (setting, associations)
    sets = try ObjectSets(connection: setting.connection)
    orders = PendingOrder.all(in: setting, byCode: Set(byCode.compactMap { $0.source?.name }))
    var heirs: [String: Set<String>] = [:]
    for heir in parts.pendingLinks.flatMap({ $0.heirs(in: setting) }) + orders.flatMap(\.heirs) {
      heirs[heir.entity, default: []].insert(heir.relationship)
    }
    undone = UndoneWork(runs, links: heirs, setting: setting, sets: sets)
    self.runs = runs
    for run in runs {
      guard let source = run.source?.name else { continue }
      let deeds = Deeds(given: sets.add(), made: sets.add(), related: sets.add(), products: sets.add())
      self.deeds[run.mapping.name] = (source, deeds)
      run.deeds = deeds
    }
    var properties: [String: Set<String>] = [:]
    for run in byCode { if let source = run.source?.name { properties[source] = [] } }
    for line in parts.pendingCells {
      if let attribute = line.attribute { properties[line.entity.name, default: []].insert(attribute) }
    }
    for links in parts.pendingLinks {
      properties[links.owner, default: []].insert(links.relationship)
      guard let inverse = links.inverse else { continue }
      for target in links.targets { properties[target, default: []].insert(inverse) }
    }
    for order in orders { properties[order.owner, default: []].insert(order.relationship) }
    for (entity, properties) in properties.ordered(by: \.key) {
      reads[entity] = setting.sourceStore.noteReads(of: properties, ofEntity: entity, in: sets)
    }
  }

  // MARK: Noting

  /// Objects of other entities than the mapping's source don't count.
  func note(_ object: ManagedObject, in set: KeyPath<Deeds, Int>, of run: RowMapping) {
    guard let deeds = run.deeds, object.isOf(run.mapping.sourceEntityName) else { return }
    sets.insert(object.key, into: deeds[keyPath: set])
  }

  func note(product object: ManagedObject, in set: KeyPath<Deeds, Int>, of run: RowMapping) {
    guard let deeds = run.deeds, object.isOf(run.mapping.destinationEntityName) else { return }
    sets.insert(object.key, into: deeds[keyPath: set])
  }

  /// Changes that are made for the default undo nothing.
  func withoutEdits<Value>(_ body: () throws -> Value) rethrows -> Value {
    let isNested = sets.ignoresEdits
    sets.ignoresEdits = true
    defer { sets.ignoresEdits = isNested }
    return try body()
  }

  /// Reads for the mapping's condition or a validation don't count.
  func withoutNotes<Value>(_ body: () throws -> Value) rethrows -> Value {
    let isNested = sets.isPaused
    sets.isPaused = true
    defer { sets.isPaused = isNested }
    return try body()
  }

  /// Conditions find only records that are in their tables.
  func close() throws { try sets.flush() }

  func remove() throws {
    try candidate?.remove()
    try sets.remove()
  }

  // MARK: Conditions

  /// An end of links, or the row of cells.
  struct End {
    /// As SQL.
    let key: String
    let entities: [String]
  }

  /// `nil` if one of the mappings certainly took the object.
  func isGiven(_ end: End, to mappings: Set<String>) throws -> String? {
    guard mappings.allSatisfy({ deeds[$0] != nil }) else { return nil }
    return try isInAny(sets(of: mappings, \.given, end), end)
  }

  /// `nil` if the default of one of the mappings certainly copied the values or links.
  func isTaken(_ end: End, by mappings: Set<String>, _ deed: KeyPath<Deeds, Int>) throws -> String? {
    // A mapping that ran as SQL copied all of them.
    guard mappings.allSatisfy({ deeds[$0] != nil }) else { return nil }
    return try isInAny(sets(of: mappings, deed, end), end)
  }

  /// `nil` if code read the property of all objects.
  func isRead(_ property: String, of end: End) throws -> String? {
    try isInAny(end.entities.compactMap { reads[$0]?.set(of: property) }, end)
  }

  /// `nil` if code read a property of each object.
  func isTouched(_ end: End) throws -> String? { try isInAny(end.entities.compactMap { reads[$0]?.ofAny }, end) }

  private func sets(of mappings: Set<String>, _ deed: KeyPath<Deeds, Int>, _ end: End) -> [Int] {
    mappings.ordered().compactMap { name in
      deeds[name].flatMap { end.entities.contains($0.source) ? $0.sets[keyPath: deed] : nil }
    }
  }

  /// `nil` if one set has all objects of the entities.
  private func isInAny(_ numbers: [Int], _ end: End) throws -> String? {
    let total = try end.entities.reduce(Int64(0)) { try $0 + count(of: $1) }
    var conditions: [String] = []
    for number in numbers {
      let count = try sets.count(of: number)
      if count >= total { return nil }
      if count > 0 { conditions.append(sets.contains(end.key, in: number)) }
    }
    return conditions.isEmpty ? "0" : "(\(conditions.joined(separator: " OR ")))"
  }

  private func count(of entity: String) throws -> Int64 {
    guard let entity = setting.source.entity(named: entity) else { return 0 }
    if let known = counts[entity.number] { return known }
    let count =
      try setting.connection.firstInteger(
        "SELECT COUNT(*) FROM \(SchemaName.rows(of: entity.table, as: "s"))"
          + " WHERE s.\(quote(PhysicalName.entity)) = \(entity.number)") ?? 0
    counts[entity.number] = count
    return count
  }

  func mappings(of entity: String) -> Set<String> { Set(deeds.filter { $0.value.source == entity }.keys) }
}
