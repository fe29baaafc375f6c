extension StoreVault {
  /// Writes the snapshot, so that a whole one is always there: the old or the new.
  ///
  /// - Parameter bytes: The content of the snapshot's file.
  /// - Throws: ``VaultError`` when the place is not fit or the snapshot can't be written; the old one is then in place.
  package func writeSnapshot(_ bytes: [UInt8]) throws {
    try withLock(requiresStore: false) {
      try removeSnapshotDrafts()
      // The companion folder may be new, and its own name must last before its content can.
      // Once a version was kept in it, the hold has brought its name to the disk.
      if try files.status(of: location.snapshot) == nil, try files.status(of: location.previous) == nil {
        try files.synchronizeDirectory(location.directory)
      }
      let attributes = try files.status(of: location.path)?.attributes ?? FileAttributes(mode: 0o644)
      try SnapshotFile(path: location.snapshot, files: files).write(bytes, attributes: attributes)
    }
  }
}

/// A snapshot's file, replaced as a whole.
package struct SnapshotFile {
  /// The length limit for reading a snapshot, in bytes.
  package static let byteLimit = 64 << 20

  /// The file.
  package let path: String
  private let files: any FileOperations

  /// Creates a snapshot's file; nothing is read.
  package init(path: String, files: any FileOperations) {
    self.path = path
    self.files = files
  }

  /// Reads the file.
  ///
  /// - Returns: The content; `nil` when there is no file.
  /// - Throws: `FileError` when it can't be read or is too long.
  package func read() throws(FileError) -> [UInt8]? {
    guard try files.status(of: path) != nil else { return nil }
    return try files.readFile(path, limit: Self.byteLimit)
  }

  /// Replaces the file: new content under a name of its own, on the disk, then the rename, then the folder.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - attributes: Permissions and owner of the file.
  /// - Throws: `FileError`; the old file is then in place.
  package func write(
    _ bytes: [UInt8], attributes: FileAttributes = FileAttributes(mode: 0o644)
  ) throws(FileError) {
    let draft = "\(path).\(files.uniqueIdentifier()).tmp"
    do throws(FileError) {
      try files.writeNewFile(draft, bytes: bytes, attributes: attributes)
      try files.rename(draft, to: path)
    } catch {
      try? files.unlink(draft)
      throw error
    }
    let folder = PathText.split(path).folder
    try files.synchronizeDirectory(folder.isEmpty ? "." : folder)
  }
}
