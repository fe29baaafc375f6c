package import HeirloomModel

extension ActualSchema {
  /// The columns of a model that the store has, less those that it lacks.
  ///
  /// Only the model that made the store, or one with the same columns, has the highest number.
  package func likeness(to model: ManagedObjectModel) -> Int {
    PhysicalSchema(model: model, actual: self).tables.reduce(0) { likeness, table in
      let found = Set(self.table(named: table.name)?.columns.map(\.name) ?? [])
      return table.columns.reduce(likeness) { $0 + (found.contains($1.name) ? 1 : -1) }
    }
  }
}
