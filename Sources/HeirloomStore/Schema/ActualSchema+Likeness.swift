package import HeirloomModel

extension ActualSchema {
  /// Returns the number of a model's columns that the store has, less the number of those that it lacks.
  ///
  /// The highest number belongs to the model that made the store, or to one with the same columns: others lack columns
  /// of the store, or have more.
  package func likeness(to model: ManagedObjectModel) -> Int {
    PhysicalSchema(model: model, actual: self).tables.reduce(0) { likeness, table in
      let found = Set(self.table(named: table.name)?.columns.map(\.name) ?? [])
      return table.columns.reduce(likeness) { $0 + (found.contains($1.name) ? 1 : -1) }
    }
  }
}
