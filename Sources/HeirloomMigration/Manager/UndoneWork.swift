import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The notes of what code changes and deletes of that which the default or SQL made, and what is gone by it in the end.
///
/// A line of the ledger that the default closed is open again where code removed what the default had taken along. Only
/// objects that code changed are looked at, so the work follows from what was undone.
final class UndoneWork {
  /// A column of the destination that takes the cells of a line along.
  struct Target {
    let column: String
    /// The attribute's path, joined by points.
    let path: String
    /// The place of the value in the mapping's selection; `nil` where an expression gives it.
    let place: Int?
  }

  /// The relationships that go on with some links, by destination entity.
  struct Heirs {
    /// Those of the owners.
    let own: [String: Set<String>]
    /// Those of the targets.
    let other: [String: Set<String>]
    /// Those of the owners whose links the targets' don't show.
    let ownAlone: [String: Set<String>]
    /// Those of the targets whose links the owners' don't show.
    let otherAlone: [String: Set<String>]

    init(own: [String: Set<String>], other: [String: Set<String>], in model: ManagedObjectModel) {
      func alone(_ heirs: [String: Set<String>], besides others: [String: Set<String>]) -> [String: Set<String>] {
        let known = Set(others.values.joined())
        return heirs.reduce(into: [:]) { found, heir in
          found[heir.key] = heir.value.filter { name in
            let inverse = model.relationship(named: name, of: heir.key).flatMap { model.inverse(of: $0) }
            return inverse.map { !known.contains($0.relationship.name) } ?? true
          }
        }
      }
      (self.own, self.other) = (own, other)
      ownAlone = alone(own, besides: other)
      otherAlone = alone(other, besides: own)
    }
  }

  /// The notes about the objects of each destination entity.
  private(set) var edits: [String: ObjectEdits] = [:]
  /// The notes of what code read of the objects of each destination entity.
  private(set) var reads: [String: PropertyReads] = [:]
  /// The columns that take a line's cells along, by the line's place and the mapping's name.
  private(set) var targets: [Int: [String: [Target]]] = [:]
  /// The relationships that go on with the links of a line, by its place.
  private(set) var heirs: [Int: Heirs] = [:]

  /// The source objects whose cells are gone, by the place of the line.
  private(set) var values: [Int: Int] = [:]
  /// The source objects of each entity whose successors were all deleted.
  private(set) var vanished: [String: Int] = [:]
  /// Those of them of which code had read something.
  private(set) var touched: [String: Int] = [:]
  /// The places of the lines with links that are gone.
  var links: Set<Int> = []

  private let setting: RowRunSetting
  private let sets: ObjectSets
  private static let table = quote("heirloom_undone_links")

  /// Watches the destination's objects.
  init(_ runs: [RowMapping], setting: RowRunSetting, sets: ObjectSets) {
    (self.setting, self.sets) = (setting, sets)
    var watched: [String: ObjectEdits.Watched] = [:]
    var asked: [String: Set<String>] = [:]
    for (index, line) in setting.parts.openLines.enumerated() {
      for run in runs where line.carriers.contains(run.mapping.name) {
        guard let entity = run.destination?.name else { continue }
        let found = columns(of: line, run)
        watched[entity, default: ObjectEdits.Watched()].values.formUnion(found.map(\.column))
        asked[entity, default: []].formUnion(found.map(\.path))
        targets[index, default: [:]][run.mapping.name] = found
      }
      values[index] = sets.add()
    }
    for (index, links) in setting.parts.openLinks.enumerated() {
      let own = heirs(of: links.relationship, from: [links.owner])
      let other = links.inverse.map { heirs(of: $0, from: links.targets) } ?? [:]
      heirs[index] = Heirs(own: own, other: other, in: setting.destination.model)
      for (entity, names) in own.ordered(by: \.key) + other.ordered(by: \.key) {
        asked[entity, default: []].formUnion(names)
        for name in names { watch(name, of: entity, &watched) }
      }
    }
    for mapping in setting.mapping.entityMappings {
      guard let source = mapping.sourceEntityName, let entity = mapping.destinationEntityName else { continue }
      if vanished[source] == nil { (vanished[source], touched[source]) = (sets.add(), sets.add()) }
      guard edits[entity] == nil else { continue }
      let store = setting.destinationStore
      edits[entity] = store.noteEdits(of: watched[entity] ?? ObjectEdits.Watched(), ofEntity: entity, in: sets)
      reads[entity] = store.noteReads(of: asked[entity] ?? [], ofEntity: entity, in: sets)
    }
  }

  private func columns(of line: OpenLine, _ run: RowMapping) -> [Target] {
    guard let entity = run.destination?.name, let table = setting.destination.table(ofEntity: entity) else { return [] }
    var found: [Target] = []
    let expressions = setting.parts.valueSelections[run.mapping.name]?.expressions ?? []
    for (place, (column, expression)) in zip(run.columns, expressions).enumerated()
    where expression.columnsRead(ofRowsNumbered: line.entity.number).contains(line.column) {
      guard case .attribute(_, let path)? = table.column(named: column)?.role else { continue }
      found.append(Target(column: column, path: path.joined(separator: "."), place: place))
    }
    let first = line.attribute?.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init)
    for (mapping, target) in run.evaluated where first != nil && mapping.sourceAttributeName == first {
      guard let column = setting.destination.column(atPath: target.path, in: entity) else { continue }
      found.append(Target(column: column.name, path: target.path.joined(separator: "."), place: nil))
    }
    return found
  }

  /// Returns the relationships of destination entities that go on with one of source entities.
  private func heirs(of relationship: String, from sources: [String]) -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    for mapping in setting.mapping.entityMappings {
      guard let source = mapping.sourceEntityName, sources.contains(source),
        let destination = mapping.destinationEntityName
      else { continue }
      for property in mapping.relationshipMappings where property.sourceRelationshipName == relationship {
        guard setting.destination.storage(ofRelationship: property.name, in: destination) != nil else { continue }
        found[destination, default: []].insert(property.name)
      }
    }
    return found
  }

  private func watch(_ name: String, of entity: String, _ watched: inout [String: ObjectEdits.Watched]) {
    let model = setting.destination.model
    guard let relationship = model.relationship(named: name, of: entity) else { return }
    let others = model.entityTree(from: relationship.destinationEntity).map(\.name)
    switch setting.destination.storage(ofRelationship: name, in: entity) {
    case .key(_, let column, _): watched[entity, default: ObjectEdits.Watched()].keys.insert(column)
    case .inverseKey(_, let column, _, _), .inverselessKey(_, let column, _):
      for other in others { watched[other, default: ObjectEdits.Watched()].keys.insert(column) }
    case .join:
      watched[entity, default: ObjectEdits.Watched()].joins.insert(name)
      guard let inverse = model.inverse(of: relationship)?.relationship else { return }
      for other in others { watched[other, default: ObjectEdits.Watched()].joins.insert(inverse.name) }
    case nil: return
    }
  }

  // MARK: Links

  /// Notes that a link is gone.
  func add(_ owner: Int64, _ target: Int64, ofLinks index: Int) throws {
    if links.isEmpty {
      try setting.connection.execute("DROP TABLE IF EXISTS temp.\(Self.table)")
      try setting.connection.execute(
        "CREATE TEMP TABLE \(Self.table) (line INTEGER, own INTEGER, other INTEGER, PRIMARY KEY (line, own, other))"
          + " WITHOUT ROWID")
    }
    links.insert(index)
    try setting.destinationStore.statements.run(
      "INSERT OR IGNORE INTO temp.\(Self.table) VALUES (?1, ?2, ?3)",
      [.integer(Int64(index)), .integer(owner), .integer(target)])
  }

  /// Returns the condition that a link is among those of a line that are gone.
  func condition(ofLinks index: Int, owner: String, target: String) -> String {
    "EXISTS (SELECT 1 FROM temp.\(Self.table) AS u WHERE u.line = \(index) AND u.own = \(owner) AND u.other = \(target))"
  }

  /// Removes the notes of links.
  func remove() throws {
    if !links.isEmpty { try setting.connection.execute("DROP TABLE IF EXISTS temp.\(Self.table)") }
  }
}
