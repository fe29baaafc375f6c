import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The notes of what code changes and deletes of that which the default or SQL made, and what is gone by it in the end.
///
/// A line of the ledger that the default closed is open again where code removed the value that the default had taken
/// along. Only objects that code changed are looked at, so the work follows from what was undone.
final class UndoneWork {
  /// A column of the destination that takes the cells of a line along.
  struct Target {
    let column: String
    /// The attribute's path, joined by points.
    let path: String
    /// The place of the value in the mapping's selection; `nil` where an expression gives it.
    let place: Int?
  }

  /// The notes about the objects of each destination entity.
  private(set) var edits: [String: ObjectEdits] = [:]
  /// The notes of what code read of the objects of each destination entity.
  private(set) var reads: [String: PropertyReads] = [:]
  /// The columns that take a line's cells along, by the line's place and the mapping's name.
  private(set) var targets: [Int: [String: [Target]]] = [:]

  /// The source objects whose cells are gone, by the place of the line.
  private(set) var values: [Int: Int] = [:]
  /// The source objects of each entity whose successors were all deleted.
  private(set) var vanished: [String: Int] = [:]
  /// Those of them of which code had read something.
  private(set) var touched: [String: Int] = [:]

  private let setting: RowRunSetting
  private let sets: ObjectSets

  /// Watches the destination's objects.
  ///
  /// - Parameters:
  ///   - runs: The mappings that run object by object.
  ///   - links: The relationships that go on with links which may be lost, by destination entity.
  ///   - setting: The stores and mappings.
  ///   - sets: The place for the notes.
  init(_ runs: [RowMapping], links: [String: Set<String>], setting: RowRunSetting, sets: ObjectSets) {
    (self.setting, self.sets) = (setting, sets)
    var watched: [String: Set<String>] = [:]
    var asked = links
    for (index, line) in setting.parts.openLines.enumerated() {
      for run in runs where line.carriers.contains(run.mapping.name) {
        guard let entity = run.destination?.name else { continue }
        let found = columns(of: line, run)
        watched[entity, default: []].formUnion(found.map(\.column))
        asked[entity, default: []].formUnion(found.map(\.path))
        targets[index, default: [:]][run.mapping.name] = found
      }
      values[index] = sets.add()
    }
    for mapping in setting.mapping.entityMappings {
      guard let source = mapping.sourceEntityName, let entity = mapping.destinationEntityName else { continue }
      if vanished[source] == nil { (vanished[source], touched[source]) = (sets.add(), sets.add()) }
      guard edits[entity] == nil else { continue }
      let store = setting.destinationStore
      edits[entity] = store.noteEdits(of: watched[entity] ?? [], ofEntity: entity, in: sets)
      reads[entity] = store.noteReads(of: asked[entity] ?? [], ofEntity: entity, in: sets)
    }
  }

  private func columns(of line: OpenLine, _ run: RowMapping) -> [Target] {
    guard let entity = run.destination?.name, let table = setting.destination.table(ofEntity: entity) else { return [] }
    var found: [Target] = []
    let entries = setting.parts.valueSelections[run.mapping.name]?.entries ?? []
    for (place, (column, entry)) in zip(run.columns, entries).enumerated()
    where entry.columnsRead(ofRowsNumbered: line.entity.number).contains(line.column) {
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
}
