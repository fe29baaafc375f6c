package struct SnapshotFile {
  package static let byteLimit = 64 << 20

  package let path: String
  private let files: any FileOperations

  package init(path: String, files: any FileOperations) {
    self.path = path
    self.files = files
  }

  package func read() throws(FileError) -> [UInt8]? {
    guard try files.status(of: path) != nil else { return nil }
    return try files.readFile(path, limit: Self.byteLimit)
  }

  /// After an error the old file is in place, unless only the folder's sync failed.
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
