package import HeirloomVault

/// Another file system, with a hook before each call; a type that conforms writes only the calls that it changes.
package protocol ForwardingFiles: FileOperations {
  var base: any FileOperations { get }

  /// What it throws is thrown instead of the call.
  func willCall(_ operation: FileError.Operation, _ path: String, _ other: String?) throws(FileError)
}

extension ForwardingFiles {
  package func willCall(_ operation: FileError.Operation, _ path: String, _ other: String?) throws(FileError) {}

  package func status(of path: String) throws(FileError) -> FileStatus? {
    try willCall(.status, path, nil)
    return try base.status(of: path)
  }

  package func names(in folder: String) throws(FileError) -> [String] {
    try willCall(.list, folder, nil)
    return try base.names(in: folder)
  }

  package func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try willCall(.makeDirectory, path, nil)
    try base.makeDirectory(path, attributes: attributes)
  }

  package func removeDirectory(_ path: String) throws(FileError) {
    try willCall(.removeDirectory, path, nil)
    try base.removeDirectory(path)
  }

  package func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    try willCall(.write, path, nil)
    try base.makeEmptyFile(path, attributes: attributes)
  }

  package func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    try willCall(.write, path, nil)
    try base.writeNewFile(path, bytes: bytes, attributes: attributes)
  }

  package func synchronizeFile(_ path: String) throws(FileError) {
    try willCall(.synchronizeFile, path, nil)
    try base.synchronizeFile(path)
  }

  package func synchronizeDirectory(_ path: String) throws(FileError) {
    try willCall(.synchronizeDirectory, path, nil)
    try base.synchronizeDirectory(path)
  }

  package func link(_ path: String, to newPath: String) throws(FileError) {
    try willCall(.link, path, newPath)
    try base.link(path, to: newPath)
  }

  package func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver
  {
    try willCall(.copy, path, newPath)
    return try base.copyFile(path, to: newPath, attributes: attributes)
  }

  package func rename(_ path: String, to newPath: String) throws(FileError) {
    try willCall(.rename, path, newPath)
    try base.rename(path, to: newPath)
  }

  package func unlink(_ path: String) throws(FileError) {
    try willCall(.unlink, path, nil)
    try base.unlink(path)
  }

  package func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    try willCall(.setMode, path, nil)
    try base.setMode(mode, of: path)
  }

  package func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError) {
    try willCall(.giveAttributes, folder, nil)
    try base.setExcludedFromBackup(isExcluded, folder)
  }

  package func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    try willCall(.read, path, nil)
    return try base.readFile(path, limit: limit)
  }

  package func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
    try willCall(.read, path, nil)
    return try base.readStart(of: path, count: count)
  }

  package func resolvePath(_ path: String) throws(FileError) -> String {
    try willCall(.resolve, path, nil)
    return try base.resolvePath(path)
  }

  package func checkWritable(_ folder: String) throws(FileError) {
    try willCall(.checkWritable, folder, nil)
    try base.checkWritable(folder)
  }

  package func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    try willCall(.lock, path, nil)
    return try base.lock(path, timeout: timeout)
  }

  /// The calls of the held file are not forwarded.
  package func hold(_ path: String) throws(FileError) -> any HeldFile {
    try willCall(.read, path, nil)
    return try base.hold(path)
  }

  package func volume(of path: String) throws(FileError) -> VolumeInformation {
    try willCall(.volume, path, nil)
    return try base.volume(of: path)
  }

  package func uniqueIdentifier() -> String { base.uniqueIdentifier() }
}

/// Another held file, with a hook before each call.
package protocol ForwardingHeldFile: HeldFile {
  var held: any HeldFile { get }

  /// `other` is the file that the call makes or changes beside the held one.
  func willCall(_ operation: FileError.Operation, _ other: String?) throws(FileError)
}

extension ForwardingHeldFile {
  package func willCall(_ operation: FileError.Operation, _ other: String?) throws(FileError) {}

  package func status() throws(FileError) -> FileStatus {
    try willCall(.status, nil)
    return try held.status()
  }

  package func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool {
    try willCall(.copy, path)
    return try held.clone(to: path, attributes: attributes)
  }

  package func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    try willCall(.copy, path)
    return try held.copy(to: path, attributes: attributes)
  }

  package func copyWithoutSync(to path: String, attributes: FileAttributes, goesOn: CopyWatch) throws(FileError) {
    try willCall(.copy, path)
    try held.copyWithoutSync(to: path, attributes: attributes, goesOn: goesOn)
  }

  package func sharedRanges(withCloneAt path: String) -> [Range<Int64>] { held.sharedRanges(withCloneAt: path) }

  package func giveAttributes(to path: String) throws(FileError) -> PassedOver {
    try willCall(.giveAttributes, path)
    return try held.giveAttributes(to: path)
  }

  package func giveProtection(to path: String) throws(FileError) -> PassedOver {
    try willCall(.giveAttributes, path)
    return try held.giveProtection(to: path)
  }

  package func synchronize() throws(FileError) {
    try willCall(.synchronizeFile, nil)
    try held.synchronize()
  }

  package func close() { held.close() }
}
