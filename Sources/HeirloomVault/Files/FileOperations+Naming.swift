import Foundation

extension FileOperations {
  /// Never replaces a file: where links are refused (FAT, some mounted folders), it is renamed
  /// after a check.
  ///
  /// For a crash model: the old name may or may not be there afterwards. Throws the code `EEXIST`
  /// if the new name is used.
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
