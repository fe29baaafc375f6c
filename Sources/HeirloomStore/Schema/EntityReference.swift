/// A column of persistent history or of CloudKit mirroring that refers to an entity of the model.
package struct EntityReference: Hashable, Sendable {
  /// The table.
  package let table: String
  /// The column.
  package let column: String
  /// True if it holds the entity's name; otherwise it holds the number.
  package let isName: Bool
  /// The column with the primary key of the object; `nil` if there is none.
  package let key: String?
}

extension ActualSchema {
  /// The columns of the framework's own tables that refer to entities, in the order of the file.
  ///
  /// They are found by name, in tables of any version of the framework: `ZENTITY` of the changes, `ZENTITYID` of
  /// CloudKit mirroring, and the latter's columns whose names end in `ENTITYNAME`.
  package var entityReferences: [EntityReference] {
    tables.filter { !$0.isVirtual }.flatMap { table -> [EntityReference] in
      let isChange = table.name == PhysicalName.changeTable
      guard isChange || table.name.hasPrefix(PhysicalName.cloudKitPrefix) else { return [] }
      let number = isChange ? PhysicalName.changedEntity : PhysicalName.mirroredEntity
      let key = table.column(named: PhysicalName.objectKey)?.name
      return table.columns.compactMap { column in
        if column.name == number {
          return EntityReference(table: table.name, column: column.name, isName: false, key: key)
        }
        guard !isChange, column.name.hasSuffix(PhysicalName.entityNameSuffix) else { return nil }
        return EntityReference(table: table.name, column: column.name, isName: true, key: nil)
      }
    }
  }
}
