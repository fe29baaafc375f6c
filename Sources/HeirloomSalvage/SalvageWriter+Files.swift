import Foundation
import HeirloomModel
import HeirloomStore
import HeirloomVault

extension SalvageWriter {
  /// Copies the files of external data that rows name; values whose file is missing are set to none.
  ///
  /// - Parameters:
  ///   - support: The damaged store's folder of external data, its links followed.
  ///   - destination: The new store's folder, which is made if there are files.
  ///   - files: The file system.
  /// - Returns: True if there are files.
  /// - Throws: SQLite's error or `FileError`.
  func copyFiles(from support: SupportFolder, to destination: String, files: any FileOperations) throws -> Bool {
    let files = files.withoutLinks
    let folder = support.path(of: SupportFolder.dataName)
    let target = PathText.join(destination, SupportFolder.dataName)
    var copied: Set<String> = []
    var hasFolder = false
    for entity in schema.model.entities {
      for attribute in entity.attributes {
        for column in schema.columns(ofAttribute: attribute.name, in: entity.name)
        where column.attribute.allowsExternalBinaryDataStorage {
          var missing: [(key: Int64, bytes: [UInt8])] = []
          for (key, bytes, file) in try names(in: column) where !copied.contains(file) {
            if !hasFolder {
              let mode = (try files.status(of: folder)?.mode ?? 0o700) & 0o777 | 0o700
              try files.makeDirectory(destination, attributes: FileAttributes(mode: mode))
              try files.makeDirectory(target, attributes: FileAttributes(mode: mode))
              hasFolder = true
            }
            guard try copy(PathText.join(folder, file), to: PathText.join(target, file), files) else {
              missing.append((key, bytes))
              if !report.missingFiles.contains(file) { report.missingFiles.append(file) }
              continue
            }
            copied.insert(file)
          }
          try empty(column, missing, subject: "\(entity.name).\(column.path.joined(separator: "."))")
        }
      }
    }
    guard !copied.isEmpty else { return false }
    try files.synchronizeDirectory(target)
    try files.synchronizeDirectory(destination)
    return true
  }

  /// Copies a file; one that the disk can't read counts as missing.
  ///
  /// - Returns: True if there is a copy.
  private func copy(_ path: String, to copy: String, _ files: any FileOperations) throws(FileError) -> Bool {
    do throws(FileError) {
      guard let status = try files.status(of: path), status.kind == .regular else { return false }
      try files.copyFile(path, to: copy, attributes: status.attributes)
      return true
    } catch {
      guard error.code == EIO else { throw error }
      if try files.status(of: copy) != nil { try files.unlink(copy) }
      return false
    }
  }

  private func names(in column: AttributeColumn) throws(SQLiteError) -> [(Int64, [UInt8], String)] {
    let value = quote(column.name)
    let statement = try connection.prepare(
      "SELECT \(quote(PhysicalName.primaryKey)), \(value) FROM \(quote(column.table)) WHERE typeof(\(value)) = 'blob' AND"
        + " length(\(value)) = 38 AND substr(\(value), 1, 1) = x'02'")
    var names: [(Int64, [UInt8], String)] = []
    while try statement.step() {
      guard let bytes = statement.blob(at: 1), case .file(let name)? = ExternalStorage(bytes) else { continue }
      names.append((statement.integer(at: 0), bytes, name))
    }
    return names
  }

  private func empty(
    _ column: AttributeColumn, _ rows: [(key: Int64, bytes: [UInt8])], subject: String
  ) throws(SQLiteError) {
    for row in rows {
      cuts.add(.missingFile, subject, table: column.table, key: row.key, [(column.name, .stored(.blob(row.bytes)))])
      try connection.execute(
        "UPDATE \(quote(column.table)) SET \(quote(column.name)) = NULL WHERE \(quote(PhysicalName.primaryKey)) = ?1",
        [.integer(row.key)])
    }
    report.count(.missingFile, subject, by: Int64(rows.count))
  }
}
