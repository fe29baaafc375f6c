import Foundation

/// Work on whole folders, never through a symbolic link.
struct FolderTree {
  /// The file system.
  let files: any FileOperations

  /// The deepest folder that is entered; the vault's own are three deep.
  private static let depthLimit = 32

  /// What was put in a folder.
  struct Content: Hashable, Sendable {
    /// The number of files.
    var fileCount = 0
    /// Their length together, in bytes.
    var byteCount: Int64 = 0
  }

  // MARK: Folders

  /// Makes a folder unless there is one, with another's permissions.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - model: The status of the folder whose permissions and volume it shares.
  /// - Throws: ``VaultError/unusableFolder(path:reason:)`` when something else has the name.
  func ensure(_ path: String, like model: FileStatus) throws(VaultError) {
    try VaultError.wrapping { () throws(FileError) in
      guard try files.status(of: path) == nil else { return }
      do throws(FileError) {
        try files.makeDirectory(path, attributes: model.attributes)
      } catch {
        // Another process may have made it at the same moment.
        guard try files.status(of: path) != nil else { throw error }
      }
    }
    if let reason = try objection(to: path, on: model) { throw .unusableFolder(path: path, reason: reason) }
  }

  /// Says why what has a name can't be a folder of the vault's; `nil` when it can, or when there is nothing.
  func objection(to path: String, on model: FileStatus) throws(VaultError) -> String? {
    guard let status = try VaultError.wrapping({ () throws(FileError) in try files.status(of: path) }) else {
      return nil
    }
    if status.kind != .directory { return "it is a \(status.kind.rawValue), not a folder" }
    return status.identity.device == model.identity.device ? nil : "it is on another volume than the store"
  }

  /// Removes a file, or a folder with everything in it; nothing happens when there is none.
  func remove(_ path: String) throws(FileError) {
    try remove(path, depth: 0)
  }

  private func remove(_ path: String, depth: Int) throws(FileError) {
    guard let status = try files.status(of: path) else { return }
    guard status.kind == .directory else { return try files.unlink(path) }
    try checkDepth(depth, path)
    for name in try files.names(in: path) { try remove(StoreLocation.join(path, name), depth: depth + 1) }
    try files.removeDirectory(path)
  }

  fileprivate func checkDepth(_ depth: Int, _ path: String) throws(FileError) {
    guard depth < Self.depthLimit else {
      throw FileError(.list, path, code: 0, reason: "its folders are more than \(Self.depthLimit) deep")
    }
  }

  // MARK: Second names

  /// Gives every file of a folder a second name in a new folder, or copies it where links are refused.
  ///
  /// What is neither a file nor a folder stays out: neither Core Data nor we make such things. A file that vanishes
  /// meanwhile was removed by the app, whose store no longer names it. The new folders are on the disk afterwards, but for the
  /// name of the outermost.
  ///
  /// - Parameters:
  ///   - source: The folder.
  ///   - destination: The new folder, which must not exist.
  /// - Returns: What the new folder holds.
  /// - Throws: `FileError` when something could not be done.
  func keep(_ source: String, at destination: String) throws(FileError) -> Content {
    try keep(source, at: destination, depth: 0)
  }

  private func keep(_ source: String, at destination: String, depth: Int) throws(FileError) -> Content {
    try checkDepth(depth, source)
    var content = Content()
    guard let folder = try files.status(of: source) else { return content }
    try files.makeDirectory(destination, attributes: folder.writableAttributes)
    for name in try files.names(in: source) {
      let from = try followed(StoreLocation.join(source, name), depth: depth)
      let to = StoreLocation.join(destination, name)
      guard let status = try files.status(of: from) else { continue }
      switch status.kind {
      case .directory:
        let inner = try keep(from, at: to, depth: depth + 1)
        content.fileCount += inner.fileCount
        content.byteCount &+= inner.byteCount
      case .regular:
        do throws(FileError) {
          try linkOrCopy(from, to: to, attributes: status.attributes)
        } catch {
          guard try files.status(of: from) == nil else { throw error }
          continue
        }
        content.fileCount += 1
        content.byteCount &+= status.size
      default:
        continue
      }
    }
    try files.synchronizeDirectory(destination)
    return content
  }

  /// Follows a symbolic link that stands for a folder, or for a file in one of the outermost folders.
  ///
  /// An app that moved its external data to another volume left such a link behind, and reads through it. Further in, a link
  /// could lead in a circle.
  fileprivate func followed(_ path: String, depth: Int = 0) throws(FileError) -> String {
    guard depth < 2, try files.status(of: path)?.kind == .symbolicLink else { return path }
    // One that leads nowhere stands for nothing.
    guard let target = try? files.resolvePath(path) else { return path }
    if depth == 0 { return target }
    return try files.status(of: target)?.kind == .regular ? target : path
  }

  /// Links a file, or copies it where links are refused.
  func linkOrCopy(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) {
    do throws(FileError) {
      try files.link(path, to: newPath)
    } catch {
      guard error.isRefusedLink else { throw error }
      try files.copyFile(path, to: newPath, attributes: attributes)
    }
  }

  // MARK: Adding

  /// Copies the files of a folder that another folder lacks into a third.
  ///
  /// - Parameters:
  ///   - source: The folder whose files are wanted.
  ///   - present: The folder that may have some of them.
  ///   - destination: The folder that receives the others; it is made when needed.
  /// - Throws: `FileError` when something could not be done.
  func copyMissing(from source: String, to present: String, into destination: String) throws(FileError) {
    guard let folder = try files.status(of: source), folder.kind == .directory else { return }
    if try files.status(of: destination) == nil {
      try files.makeDirectory(destination, attributes: folder.writableAttributes)
    }
    for name in try files.names(in: source) {
      let from = StoreLocation.join(source, name)
      let there = StoreLocation.join(present, name)
      let to = StoreLocation.join(destination, name)
      guard let status = try files.status(of: from) else { continue }
      if status.kind == .directory {
        try copyMissing(from: from, to: there, into: to)
      } else if status.kind == .regular, try files.status(of: there) == nil {
        try files.copyFile(from, to: to, attributes: status.attributes)
      }
    }
  }

  /// Adds the files of a folder to another that lacks them.
  ///
  /// The other folder's names are on the disk afterwards, those of the folders that were made included. Nothing that is there
  /// is replaced: names of external files are never used twice.
  ///
  /// - Parameters:
  ///   - source: The folder whose files are wanted.
  ///   - destination: The folder that receives them; it is made when needed.
  /// - Throws: `FileError` when something could not be done.
  func add(_ source: String, to destination: String) throws(FileError) {
    let destination = try followed(destination)
    guard let folder = try files.status(of: source), folder.kind == .directory else { return }
    let isNew = try files.status(of: destination) == nil
    if isNew { try files.makeDirectory(destination, attributes: folder.writableAttributes) }
    var hasNew = false
    for name in try files.names(in: source) {
      let from = StoreLocation.join(source, name)
      let to = StoreLocation.join(destination, name)
      guard let status = try files.status(of: from) else { continue }
      if status.kind == .directory {
        try add(from, to: to)
      } else if status.kind == .regular, try files.status(of: to) == nil {
        try linkOrCopy(from, to: to, attributes: status.attributes)
        hasNew = true
      }
    }
    if hasNew || isNew { try files.synchronizeDirectory(destination) }
    if isNew, let slash = destination.lastIndex(of: "/") {
      try files.synchronizeDirectory(slash == destination.startIndex ? "/" : String(destination[..<slash]))
    }
  }

  /// Takes back what ``add(_:to:)`` added: the names in the destination that are the source's very files.
  ///
  /// Copies can't be told from the app's own files and stay; nothing names them, so they only take room.
  func takeBack(_ source: String, from destination: String) throws(FileError) {
    let destination = try followed(destination)
    guard try files.status(of: source)?.kind == .directory, try files.status(of: destination)?.kind == .directory else {
      return
    }
    for name in try files.names(in: source) {
      let from = StoreLocation.join(source, name)
      let to = StoreLocation.join(destination, name)
      guard let added = try files.status(of: from), let status = try files.status(of: to) else { continue }
      if status.kind == .directory {
        try takeBack(from, from: to)
      } else if status.identity == added.identity {
        try files.unlink(to)
      }
    }
    // Also when nothing was left to do: an earlier run may have removed names and died before they were on the disk.
    try files.synchronizeDirectory(destination)
  }
}

extension FolderTree {
  /// Gives every file of a folder that has a second name content of its own: who writes into it changes no other.
  ///
  /// The content is the same before and after, and at each instant in between.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - draft: A name for a copy before it has its own name, on the same volume.
  /// - Throws: `FileError` when something could not be done; the files are whole all the same.
  func separate(_ folder: String, by draft: String) throws(FileError) {
    try separate(folder, by: draft, depth: 0)
  }

  private func separate(_ folder: String, by draft: String, depth: Int) throws(FileError) {
    try checkDepth(depth, folder)
    let folder = try followed(folder, depth: depth == 0 ? 0 : depth - 1)
    guard try files.status(of: folder)?.kind == .directory else { return }
    var hasNew = false
    for name in try files.names(in: folder) {
      let path = StoreLocation.join(folder, name)
      guard let status = try files.status(of: path) else { continue }
      if status.kind == .regular, status.linkCount > 1 {
        if try files.status(of: draft) != nil { try files.unlink(draft) }
        try files.copyFile(path, to: draft, attributes: status.attributes)
        do throws(FileError) {
          try files.rename(draft, to: path)
        } catch {
          // From another volume than the store's nothing was linked to a version: the second name is the app's own.
          guard error.code == EXDEV else { throw error }
        }
        hasNew = true
      } else if status.kind != .regular {
        try separate(path, by: draft, depth: depth + 1)
      }
    }
    if hasNew { try files.synchronizeDirectory(folder) }
  }
}

extension FileStatus {
  /// Permissions and owner for a folder like this one that is to be filled, which a read-only one could not be.
  fileprivate var writableAttributes: FileAttributes {
    FileAttributes(mode: mode | 0o700, owner: owner, group: group)
  }
}
