/// Creates the folders above a store.
package struct FolderMaker {
  private let files: any FileOperations

  package init(files: any FileOperations = POSIXFileOperations()) {
    self.files = files
  }

  package func makeFolders(_ path: String) throws(FileError) {
    guard !path.isEmpty, try files.status(of: path) == nil else { return }
    let (parent, _) = PathText.split(path)
    try makeFolders(parent)
    do throws(FileError) {
      try files.makeDirectory(path, attributes: FileAttributes(mode: 0o755))
    } catch {
      // Another process may have created it at the same moment.
      guard try files.status(of: path)?.kind == .directory else { throw error }
    }
    try files.synchronizeDirectory(parent.isEmpty ? "." : parent)
  }
}
