package import Heirloom

extension MigrationPlan {
  /// Counts before the first hop and after the last, by the last names of the entities.
  package var rowsOfAllHops: [EntityRows] {
    hops.dropFirst().reduce(rows) { earlier, hop in
      let before = Dictionary(earlier.map { ($0.entity, $0) }, uniquingKeysWith: { first, _ in first })
      var taken: Set<String> = []
      let later = hop.rows.map { row in
        let sources = hop.mapping.entityMappings.filter { $0.destinationEntityName == row.entity }
          .compactMap(\.sourceEntityName)
        let names = row.after == nil && sources.isEmpty ? [row.entity] : sources
        taken.formUnion(names)
        let counts = names.compactMap { before[$0]?.before }
        return EntityRows(
          entity: row.entity, before: counts.isEmpty ? nil : counts.reduce(0, +), after: row.after)
      }
      let gone = earlier.filter { !taken.contains($0.entity) && $0.before != nil }
      return later + gone.map { EntityRows(entity: $0.entity, before: $0.before, after: nil) }
    }.ordered(by: \.entity)
  }
}
