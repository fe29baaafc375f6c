package struct EntityReference: Hashable, Sendable {
  package let table: String
  package let column: String
  /// Otherwise the column holds the entity's number.
  package let isName: Bool
  /// The column with the object's primary key.
  package let key: String?
}

extension ActualSchema {
  /// `ZENTITY` of the changes; of CloudKit mirroring, `ZENTITYID` and names in `…ENTITYNAME`.
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
