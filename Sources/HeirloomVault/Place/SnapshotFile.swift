/// A snapshot's file, replaced as a whole.
package struct SnapshotFile {
  /// The size limit for reading a snapshot, in bytes.
  package static let byteLimit = 64 << 20

  /// The path of the file.
  package let path: String
  private let files: any FileOperations

  /// Creates a snapshot file; nothing is read.
  package init(path: String, files: any FileOperations) {
    self.path = path
    self.files = files
  }

  /// Reads the file; `nil` if there is none, an error if it is too long.
  package func read() throws(FileError) -> [UInt8]? {
    guard try files.status(of: path) != nil else { return nil }
    return try files.readFile(path, limit: Self.byteLimit)
  }

  /// Replaces the file: writes and syncs new content under another name, renames it, then syncs the folder.
  ///
  /// After an error the old file is in place.
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
