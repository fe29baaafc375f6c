import Foundation
import HeirloomModel
import HeirloomStore
import HeirloomVault

extension SalvageWriter {
  /// Sets values whose file is missing or empty to NULL; returns true if files were copied.
  ///
  /// `support` is the damaged store's folder, with symbolic links resolved.
  func copyFiles(from support: SupportFolder, to destination: String, files: any FileOperations) throws -> Bool {
    let files = files.withoutLinks
    let folder = support.path(of: SupportFolder.dataName)
    let target = PathText.join(destination, SupportFolder.dataName)
    var copied: Set<String> = []
    var lacking = PassedOver()
    var hasFolder = false
    for entity in schema.model.entities {
      for attribute in entity.attributes {
        for column in schema.columns(ofAttribute: attribute.name, in: entity.name)
        where column.attribute.allowsExternalBinaryDataStorage {
          var missing: [(key: Int64, bytes: [UInt8])] = []
          for (key, bytes, file) in try names(in: column) where !copied.contains(file) {
            if !hasFolder {
              let attributes = try Self.attributes(likeThoseOf: folder, files)
              try files.makeDirectory(destination, attributes: attributes)
              try files.makeDirectory(target, attributes: attributes)
              hasFolder = true
            }
            guard let left = try copy(PathText.join(folder, file), to: PathText.join(target, file), files) else {
              missing.append((key, bytes))
              if !report.missingFiles.contains(file) { report.missingFiles.append(file) }
              continue
            }
            copied.insert(file)
            if let first = left.first { lacking.note("\(first) of \(file)") }
          }
          try empty(column, missing, subject: "\(entity.name).\(column.path.joined(separator: "."))")
        }
      }
    }
    guard !copied.isEmpty else { return false }
    if let first = lacking.first {
      report.notes.append(
        "\(CountText.counted(lacking.count, "file")) of external data could not be given all attributes, such as \(first)."
      )
    }
    try files.synchronizeDirectory(target)
    try files.synchronizeDirectory(destination)
    return true
  }

  /// Returns what the copy lacks; `nil` for a file that is missing, empty or unreadable.
  private func copy(_ path: String, to copy: String, _ files: any FileOperations) throws(FileError) -> PassedOver? {
    do throws(FileError) {
      guard let status = try files.status(of: path), status.kind == .regular, status.size > 0 else { return nil }
      return try files.copyFile(path, to: copy, attributes: status.attributes)
    } catch {
      guard error.code == EIO else { throw error }
      if try files.status(of: copy) != nil { try files.unlink(copy) }
      return nil
    }
  }

  private static func attributes(
    likeThoseOf folder: String, _ files: any FileOperations
  ) throws(FileError) -> FileAttributes {
    guard try files.status(of: folder) != nil else { return FileAttributes(mode: 0o700) }
    // Only an open folder shows if it has an access list, which changes what the group bits mean.
    let attributes = try FileDescriptor(folder, flags: O_RDONLY | O_DIRECTORY, for: .read).status(for: .read).attributes
    return FileAttributes(mode: attributes.mode | 0o700, owner: attributes.owner, group: attributes.group)
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
