import Foundation
import HeirloomModel

extension StoreVerification {
  /// Checks that files of external data exist and aren't empty, and reports those that no object refers to.
  func checkExternalFiles(_ schema: PhysicalSchema) {
    let folder = ExternalStorage.folder(forStoreAt: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
    let present = Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    var used: Set<String> = []
    var isRead = true
    for (entity, column) in schema.externalAttributes(in: actual) {
      isRead = checkFiles(of: column, entity: entity, folder: folder, used: &used) && isRead
    }
    // A row that can't be read may refer to any of them.
    guard isRead else { return }
    let unused = present.subtracting(used).filter { UUID(uuidString: $0) != nil }.ordered()
    guard !unused.isEmpty else { return }
    add(
      .note, .unusedExternalFile,
      "\(counted(Int64(unused.count), "file")) of external data in \(folder) that no object refers to (\(listed(unused))): left"
        + " from deleted objects, or needed by lines of the store's quarantine. They do no harm.")
  }

  /// Returns false if not all rows could be read.
  private func checkFiles(
    of column: AttributeColumn, entity: String, folder: String, used: inout Set<String>
  ) -> Bool {
    var missing: [String] = []
    let names = reading("the table \(column.table)", entity: entity) { connection throws(SQLiteError) -> [String] in
      try ExternalStorage.fileNames(in: column, connection)
    }
    for name in names ?? [] {
      used.insert(name)
      if !ExternalStorage.isFilled("\(folder)/\(name)") { missing.append(name) }
    }
    guard !missing.isEmpty else { return names != nil }
    let missingCount = Int64(missing.count)
    add(
      .error, .missingExternalFile, entity: entity,
      "\(counted(missingCount, "file")) with a value of \(entity).\(column.path.joined(separator: ".")) \(isOrAre(missingCount))"
        + " missing or empty in \(folder) (\(listed(missing))): the value is lost unless the file is found. Look for it"
        + " in a previous version or a backup, and copy it there.", missingFiles: missing)
    return names != nil
  }
}

extension PhysicalSchema {
  /// The columns whose values may be in external files, each with the entity that declares the attribute.
  func externalAttributes(in actual: ActualSchema) -> [(entity: String, column: AttributeColumn)] {
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
  /// Returns true if a plain file exists and isn't empty.
  ///
  /// Core Data writes no empty file: an empty value is in its row.
  package static func isFilled(_ path: String) -> Bool { FileStamp(path).map { $0.size > 0 } ?? false }

  /// Returns the names of the files that a column of the main database refers to.
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
