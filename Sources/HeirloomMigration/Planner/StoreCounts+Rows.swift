import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension Crossing {
  /// Objects that are made one by one are counted after the run; `removed` is by destination
  /// entity.
  func entityRows(removing removed: [String: Int64]) -> [EntityRows] {
    let (byRow, byEntity) = (split.byRow, counts.byEntity)
    var rows: [EntityRows] = []
    let made = Dictionary(grouping: byRow) { $0.destinationEntityName ?? "" }
    let taken = Set(byRow.compactMap(\.sourceEntityName))
    for entity in destination.model.entities {
      let route = routing.byDestination[entity.name]
      var count = route.map { byEntity[$0.source, default: 0] }
      // The objects of a concrete entity don't become those of an abstract one.
      let isOfAbstract = route.flatMap { source.model.entity(named: $0.source) }?.isAbstract ?? false
      if entity.isAbstract, !isOfAbstract || count == 0 { continue }
      guard let mappings = made[entity.name] else {
        rows.append(EntityRows(entity: entity.name, before: count, after: (count ?? 0) - (removed[entity.name] ?? 0)))
        continue
      }
      for name in mappings.compactMap(\.sourceEntityName) where routing.bySource[name] == nil {
        count = (count ?? 0) + byEntity[name, default: 0]
      }
      rows.append(EntityRows(entity: entity.name, before: count, after: nil))
    }
    for entity in source.model.entities
    where routing.bySource[entity.name] == nil && !taken.contains(entity.name)
      && (!entity.isAbstract || byEntity[entity.name, default: 0] > 0)
    {
      rows.append(EntityRows(entity: entity.name, before: byEntity[entity.name, default: 0], after: nil))
    }
    return rows.ordered(by: \.entity)
  }
}
