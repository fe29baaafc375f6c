import HeirloomModel

extension PhysicalSchema {
  package func externalAttributes(in actual: ActualSchema) -> [(entity: String, column: AttributeColumn)] {
    model.entities.flatMap { entity in
      entity.attributes.flatMap { columns(ofAttribute: $0.name, in: entity.name) }
        .filter {
          $0.attribute.allowsExternalBinaryDataStorage && actual.table(named: $0.table)?.column(named: $0.name) != nil
        }
        .map { (entity.name, $0) }
    }
  }
}

extension ExternalStorage {
  /// Core Data writes no empty file: an empty value is in its row.
  package static func isFilled(_ path: String) -> Bool { FileStamp(path).map { $0.size > 0 } ?? false }

  package static func fileNames(in column: AttributeColumn, _ connection: Connection) throws(SQLiteError) -> [String] {
    let value = "t.\(quote(column.name))"
    var names: [String] = []
    let statement = try connection.prepare(
      "SELECT \(value) FROM \(quote(column.table)) AS t WHERE typeof(\(value)) = 'blob' AND length(\(value)) = 38"
        + " AND substr(\(value), 1, 1) = x'02'")
    while try statement.step() {
      guard let bytes = statement.blob(at: 0), case .file(let name)? = ExternalStorage(bytes) else { continue }
      names.append(name)
    }
    return names
  }
}
