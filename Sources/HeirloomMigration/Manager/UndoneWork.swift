import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The record of what code changes and deletes of the objects that the default or SQL made, and what is lost by that.
///
/// A cell that the default copied is lost after all if code removed its value. Only objects that code changed are
/// searched, so the cost depends on what code did.
final class UndoneWork {
  /// A column of the destination to which the cells of a line are copied.
  struct Target {
    let column: String
    /// The attribute's path, joined by points.
    let path: String
    /// The index of the value in the mapping's selection; `nil` if an expression computes it.
    let place: Int?
  }

  /// By destination entity, as are `reads`.
  private(set) var edits: [String: ObjectEdits] = [:]
  private(set) var reads: [String: PropertyReads] = [:]
  /// By the line's index and the mapping's name.
  private(set) var targets: [Int: [String: [Target]]] = [:]

  /// The set of source objects whose cells are gone, by the line's index.
  private(set) var values: [Int: Int] = [:]
  /// The set of source objects of each entity whose destination objects were all deleted.
  private(set) var vanished: [String: Int] = [:]
  /// The subset of these objects of which code read some property.
  private(set) var touched: [String: Int] = [:]

  private let setting: RowRunSetting
  private let sets: ObjectSets

  /// `links` holds the relationships that continue links which may be lost, by destination entity.
  init(_ runs: [RowMapping], links: [String: Set<String>], setting: RowRunSetting, sets: ObjectSets) {
    (self.setting, self.sets) = (setting, sets)
    var watched: [String: Set<String>] = [:]
    var asked = links
    for (index, line) in setting.parts.pendingCells.enumerated() {
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

  private func columns(of line: PendingCells, _ run: RowMapping) -> [Target] {
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
