import Foundation

extension FileOperations {
  /// Gives a file an unused name, and never replaces a file that another program creates there meanwhile.
  ///
  /// A link does so in one step. Where links are refused (FAT, some mounted folders),
  /// the file is renamed after a check. For a crash model: the old name may or may not be there afterwards.
  /// Throws the code `EEXIST` if the new name is used.
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
