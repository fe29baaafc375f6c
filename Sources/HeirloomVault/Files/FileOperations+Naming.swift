import Foundation

extension FileOperations {
  /// Gives a file a name that nothing has, and never replaces what somebody else puts there meanwhile.
  ///
  /// A link does so in one step. Where links are refused (FAT, some mounted folders) the file is renamed after a look. What a
  /// crash model has to know: the old name may be there afterwards, or not.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - newPath: The name; nothing may be there.
  /// - Throws: `FileError`, with the code `EEXIST` when something is there.
  package func linkOrMove(_ path: String, to newPath: String) throws(FileError) {
    do throws(FileError) {
      try link(path, to: newPath)
    } catch {
      guard error.isRefusedLink else { throw error }
      guard try status(of: newPath) == nil else { throw FileError(.link, path, to: newPath, code: EEXIST) }
      try rename(path, to: newPath)
    }
  }
}
