import Foundation
import HeirloomModel
import HeirloomStore

extension StoreVerification {
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
