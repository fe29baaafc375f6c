import Foundation

/// A folder of external data, of the store or of a kept set.
package struct SupportFolder: Equatable, Sendable {
  /// The name of the folder, inside a support folder, whose files the rows name.
  package static let dataName = "_EXTERNAL_DATA"

  /// The folder; it may not exist.
  let path: String
  /// The target of the folder of external data inside it; `nil` unless that is a symbolic link that may be followed.
  var data: String?

  /// Creates a support folder from paths whose links were followed.
  package init(path: String, data: String? = nil) {
    self.path = path
    self.data = data
  }

  /// Returns the path of a name in the folder.
  ///
  /// - Parameter place: The names that lead there, joined by slashes; empty for the folder itself.
  /// - Returns: The path, below the target of the folder of external data for names in that folder.
  package func path(of place: String) -> String {
    guard !place.isEmpty else { return path }
    if let data, place.utf8.starts(with: Self.dataName.utf8) {
      if place == Self.dataName { return data }
      let start = place.utf8.index(place.utf8.startIndex, offsetBy: Self.dataName.utf8.count)
      if place.utf8[start] == UInt8(ascii: "/") { return data + place[start...] }
    }
    return PathText.join(path, place)
  }
}

/// The work on whole folders, never through a symbolic link.
package struct FolderTree {
  /// The file system.
  let files: any FileOperations
  /// The receiver of attributes that a copy of a file lacks, with the copy's path.
  private let leftOut: (String, PassedOver) -> Void

  /// Creates the work on a file system.
  package init(files: any FileOperations, leftOut: @escaping (String, PassedOver) -> Void = { _, _ in }) {
    self.files = files
    self.leftOut = leftOut
  }

  /// The depth limit for folders to be kept.
  ///
  /// Each folder is reached by its path, so the time grows with the square of the depth.
  private static let depthLimit = 512
  /// The depth limit for folders to be removed, since something may have been put on top of the kept ones.
  private static let removalLimit = 1_024

  /// The counts of a folder's content.
  struct Content: Equatable, Sendable {
    /// The number of files.
    var fileCount = 0
    /// The length of all files together, in bytes.
    var byteCount: Int64 = 0
    /// The names that were passed over: they stand for symbolic links, pipes and the like.
    var passedOver = PassedOver()
  }

  // MARK: Folders

  /// Makes a folder unless it exists, with another folder's permissions.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - model: The status of the folder whose permissions and volume it shares.
  ///   - attributes: The new folder's permissions and owner; `nil` for those of the model.
  /// - Throws: ``VaultError/unusableFolder(path:reason:)`` when the name stands for something else.
  func ensure(_ path: String, like model: FileStatus, attributes: FileAttributes? = nil) throws(VaultError) {
    try VaultError.wrapping { () throws(FileError) in
      guard try files.status(of: path) == nil else { return }
      do throws(FileError) {
        try files.makeDirectory(path, attributes: attributes ?? model.attributes)
      } catch {
        // Another process may have made it at the same moment.
        guard try files.status(of: path) != nil else { throw error }
      }
    }
    if let reason = try objection(to: path, on: model) { throw .unusableFolder(path: path, reason: reason) }
  }

  /// Returns the reason why a name can't be a folder of the vault's; `nil` when it can, or when nothing is there.
  func objection(to path: String, on model: FileStatus) throws(VaultError) -> String? {
    guard let status = try VaultError.wrapping({ () throws(FileError) in try files.status(of: path) }) else {
      return nil
    }
    if status.kind != .directory { return "it is a \(status.kind.rawValue), not a folder" }
    return status.identity.device == model.identity.device ? nil : "it is on another volume than the store"
  }

  /// Removes a file, or a folder with everything in it; nothing happens when there is none.
  package func remove(_ path: String) throws(FileError) {
    guard let status = try files.status(of: path) else { return }
    guard status.kind == .directory else { return try files.unlink(path) }
    let folder = SupportFolder(path: path)
    try walk(
      folder, limit: Self.removalLimit,
      leave: { place, _ throws(FileError) in try files.removeDirectory(folder.path(of: place)) },
      other: { place, _ throws(FileError) in try files.unlink(folder.path(of: place)) })
  }

  /// Visits a folder and everything in it, each name by its whole path.
  ///
  /// - Parameters:
  ///   - folder: The folder; nothing happens when the path is no folder.
  ///   - limit: The depth limit.
  ///   - enter: Called for each folder before its content; returns true to go on inside.
  ///   - leave: Called for each folder after its content.
  ///   - other: Called for everything else.
  /// - Throws: `FileError`, also from the closures.
  private func walk(
    _ folder: SupportFolder, limit: Int = depthLimit,
    enter: (String, FileStatus) throws(FileError) -> Bool = { _, _ throws(FileError) in true },
    leave: (String, FileStatus) throws(FileError) -> Void = { _, _ throws(FileError) in },
    other: (String, FileStatus) throws(FileError) -> Void
  ) throws(FileError) {
    guard let top = try files.status(of: folder.path), top.kind == .directory, try enter("", top) else { return }
    var open: [(place: String, status: FileStatus, names: ArraySlice<String>)] = []
    open.append(("", top, try files.names(in: folder.path)[...]))
    while let name = open.last?.names.first ?? (open.isEmpty ? nil : "") {
      let current = open[open.count - 1]
      guard !name.isEmpty else {
        open.removeLast()
        try leave(current.place, current.status)
        continue
      }
      open[open.count - 1].names.removeFirst()
      let place = current.place.isEmpty ? name : current.place + "/" + name
      let path = folder.path(of: place)
      // The app removed names that vanish meanwhile, and its store no longer names them.
      guard let status = try files.status(of: path) else { continue }
      guard status.kind == .directory else {
        try other(place, status)
        continue
      }
      guard open.count < limit else {
        throw FileError(.list, folder.path, code: 0, reason: "its folders are more than \(limit) deep")
      }
      guard try enter(place, status) else { continue }
      open.append((place, status, try files.names(in: path)[...]))
    }
  }

  /// Counts the content of a folder.
  func content(of folder: SupportFolder) throws(FileError) -> Content {
    var content = Content()
    try walk(folder) { place, status throws(FileError) in
      guard status.kind == .regular else { return content.passedOver.note(folder.path(of: place)) }
      content.fileCount += 1
      content.byteCount = content.byteCount.addingReportingOverflow(status.size).partialValue
    }
    return content
  }

  // MARK: Second names

  /// Gives every file of a folder a second name in a new folder, or copies it where links are refused.
  ///
  /// Names that stand for neither a file nor a folder are passed over and counted:
  /// neither Core Data nor we make such names, and a link could lead to somebody else's files.
  /// The new folders are on the disk afterwards, except for the outermost one's name.
  ///
  /// - Parameters:
  ///   - source: The folder.
  ///   - destination: The new folder, which must not exist.
  /// - Returns: The counts of the new folder's content.
  /// - Throws: `FileError` when something could not be done.
  func keep(_ source: SupportFolder, at destination: String) throws(FileError) -> Content {
    var content = Content()
    let kept = SupportFolder(path: destination)
    try walk(
      source,
      enter: { place, status throws(FileError) in
        // Where a link was followed, folders above the target may have kept others out.
        let isElsewhere = place == SupportFolder.dataName && source.data != nil
        try files.makeDirectory(
          kept.path(of: place), attributes: isElsewhere ? status.privateAttributes : status.writableAttributes)
        return true
      },
      leave: { place, _ throws(FileError) in try files.synchronizeDirectory(kept.path(of: place)) },
      other: { place, status throws(FileError) in
        let from = source.path(of: place)
        guard status.kind == .regular else { return content.passedOver.note(from) }
        do throws(FileError) {
          try linkOrCopy(from, to: kept.path(of: place), attributes: status.attributes)
        } catch {
          guard try files.status(of: from) == nil else { throw error }
          return
        }
        content.fileCount += 1
        content.byteCount &+= status.size
      })
    return content
  }

  /// Links a file, or copies it where links are refused.
  func linkOrCopy(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) {
    do throws(FileError) {
      try files.link(path, to: newPath)
    } catch {
      guard error.isRefusedLink else { throw error }
      try copyFile(path, to: newPath, attributes: attributes)
    }
  }

  /// Copies a file, and tells of attributes that the copy lacks.
  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) {
    leftOut(newPath, try files.copyFile(path, to: newPath, attributes: attributes))
  }

  // MARK: Adding

  /// Copies the files that one folder has and a second lacks, or has with other content, into two further ones.
  ///
  /// - Parameters:
  ///   - source: The folder whose files are wanted.
  ///   - present: The folder that may have some of them.
  ///   - destination: The folder that receives those that are lacking; it is made when needed.
  ///   - replacements: The folder that receives those that differ, on the disk; it is made when needed.
  /// - Returns: The names that were passed over.
  /// - Throws: `FileError` when something could not be done, also when something else than a file or folder has the name
  ///   of a wanted one in the second folder.
  func copyDiffering(
    from source: String, to present: SupportFolder, into destination: String, replacements: String
  ) throws(FileError) -> PassedOver {
    let (source, new) = (SupportFolder(path: source), SupportFolder(path: destination))
    var passedOver = PassedOver()
    var changed: Set<String> = []
    try walk(
      source,
      enter: { place, status throws(FileError) in
        if let found = try files.status(of: present.path(of: place)) {
          try checkKind(.directory, found, at: present.path(of: place))
        }
        if try files.status(of: new.path(of: place)) == nil {
          try files.makeDirectory(new.path(of: place), attributes: status.writableAttributes)
        }
        return true
      },
      leave: { place, _ throws(FileError) in
        let folder = SupportFolder(path: replacements).path(of: place)
        guard changed.contains(place) else { return }
        try files.synchronizeDirectory(folder)
        changed.insert(PathText.split(place).folder)
        if place.isEmpty { try files.synchronizeDirectory(PathText.split(folder).folder) }
      },
      other: { place, status throws(FileError) in
        let path = source.path(of: place)
        guard status.kind == .regular else { return passedOver.note(path) }
        guard let found = try files.status(of: present.path(of: place)) else {
          return try copyFile(path, to: new.path(of: place), attributes: status.attributes)
        }
        try checkKind(.regular, found, at: present.path(of: place))
        guard try !isSame(path, status, as: present.path(of: place), found) else { return }
        let replacement = SupportFolder(path: replacements).path(of: place)
        try makeFolders(upTo: PathText.split(place).folder, in: replacements)
        try copyFile(path, to: replacement, attributes: status.attributes)
        changed.insert(PathText.split(place).folder)
      })
    return passedOver
  }

  /// Throws if something of another kind has the name that a file or folder needs.
  private func checkKind(_ kind: FileStatus.Kind, _ found: FileStatus, at path: String) throws(FileError) {
    guard found.kind != kind else { return }
    throw FileError(
      .write, path, code: EEXIST,
      reason: "a \(found.kind.rawValue) is in the place of a \(kind.rawValue) that comes back")
  }

  /// Counts the files of a folder of which another one has other content under the same name.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - others: The other folders, the nearest first. A file counts only up to a folder that stays and has its content.
  /// - Returns: The number of files.
  /// - Throws: `FileError` when something can't be read.
  func countDiffering(
    _ folder: SupportFolder, from others: [(folder: SupportFolder, stays: Bool)]
  ) throws(FileError) -> Int {
    var count = 0
    try walk(folder) { place, status throws(FileError) in
      guard status.kind == .regular else { return }
      var differs = false
      for (other, stays) in others {
        let path = other.path(of: place)
        guard let found = try files.status(of: path), found.kind == .regular else { continue }
        if try !isSame(folder.path(of: place), status, as: path, found) { differs = true } else if stays { return }
      }
      if differs { count += 1 }
    }
    return count
  }

  private func isSame(
    _ path: String, _ status: FileStatus, as other: String, _ otherStatus: FileStatus
  ) throws(FileError) -> Bool {
    if status.identity == otherStatus.identity { return true }
    guard status.size == otherStatus.size else { return false }
    return try FileDescriptor.haveSameContent(path, other)
  }

  /// Makes a folder in another one, and those on the way, for the owner alone.
  private func makeFolders(upTo place: String, in folder: String) throws(FileError) {
    var path = folder
    let names = place.split(separator: "/").map(String.init)
    for name in [""] + names {
      if !name.isEmpty { path = PathText.join(path, name) }
      if try files.status(of: path) == nil { try files.makeDirectory(path, attributes: FileAttributes(mode: 0o700)) }
    }
  }

  /// Puts the files of a folder in the place of those of another, on the disk.
  ///
  /// At each instant a name has the one content or the other. It can be interrupted anywhere and run again, as long as
  /// the first folder is there.
  ///
  /// - Parameters:
  ///   - replacements: The folder whose files are wanted; nothing happens when there is none.
  ///   - destination: The folder that receives them.
  ///   - draft: A name that is nobody's, for a file before it gets its own.
  /// - Throws: `FileError` when something could not be done.
  func replace(by replacements: String, in destination: SupportFolder, draft: String) throws(FileError) {
    let replacements = SupportFolder(path: replacements)
    try walk(
      replacements,
      leave: { place, _ throws(FileError) in
        let to = destination.path(of: place)
        if try files.status(of: to) != nil { try files.synchronizeDirectory(to) }
      },
      other: { place, status throws(FileError) in
        let (path, to) = (replacements.path(of: place), destination.path(of: place))
        guard status.kind == .regular, try files.status(of: to)?.identity != status.identity else { return }
        // Not by a rename from elsewhere: of its two ends, only the removal of the old name may last.
        let next = PathText.join(PathText.split(to).folder, draft)
        if try files.status(of: next) != nil { try files.unlink(next) }
        try linkOrCopy(path, to: next, attributes: status.attributes)
        try files.rename(next, to: to)
      })
  }

  /// Keeps the files of a folder that those of another are to replace, under their names in a third, on the disk.
  func keepReplaced(by replacements: String, of present: SupportFolder, in kept: String) throws(FileError) {
    let replacements = SupportFolder(path: replacements)
    var changed: Set<String> = []
    try walk(
      replacements,
      leave: { place, _ throws(FileError) in
        guard changed.contains(place) else { return }
        try files.synchronizeDirectory(SupportFolder(path: kept).path(of: place))
        changed.insert(PathText.split(place).folder)
      },
      other: { place, _ throws(FileError) in
        guard let status = try files.status(of: present.path(of: place)), status.kind == .regular else { return }
        try makeFolders(upTo: PathText.split(place).folder, in: kept)
        try linkOrCopy(
          present.path(of: place), to: SupportFolder(path: kept).path(of: place), attributes: status.attributes)
        changed.insert(PathText.split(place).folder)
      })
  }

  /// Adds the files of a folder to another that lacks them.
  ///
  /// The other folder's names, and those of new folders in it, are on the disk afterwards.
  /// No existing file is replaced: names of external files are never used twice.
  ///
  /// - Parameters:
  ///   - source: The folder whose files are wanted.
  ///   - destination: The folder that receives them; it is made when needed.
  /// - Throws: `FileError` when something could not be done.
  func add(_ source: String, to destination: SupportFolder) throws(FileError) {
    let source = SupportFolder(path: source)
    var made: Set<String> = []
    var changed: Set<String> = []
    try walk(
      source,
      enter: { place, status throws(FileError) in
        let to = destination.path(of: place)
        if try files.status(of: to) == nil {
          try files.makeDirectory(to, attributes: status.writableAttributes)
          made.insert(place)
        }
        return true
      },
      leave: { place, _ throws(FileError) in
        let to = destination.path(of: place)
        if changed.contains(place) || made.contains(place) { try files.synchronizeDirectory(to) }
        if made.contains(place) { try files.synchronizeDirectory(PathText.split(to).folder) }
      },
      other: { place, status throws(FileError) in
        guard status.kind == .regular, try files.status(of: destination.path(of: place)) == nil else { return }
        try linkOrCopy(source.path(of: place), to: destination.path(of: place), attributes: status.attributes)
        changed.insert(PathText.split(place).folder)
      })
  }

  /// Removes the names that an earlier addition gave the source's files in the destination.
  ///
  /// It takes back ``add(_:to:)``.
  /// Copies can't be told from the app's own files and stay; nothing names them, so they only take room.
  func takeBack(_ source: String, from destination: SupportFolder) throws(FileError) {
    let source = SupportFolder(path: source)
    try walk(
      source,
      enter: { place, _ throws(FileError) in
        try files.status(of: destination.path(of: place))?.kind == .directory
      },
      // Also when nothing was left to do: an earlier run may have removed names and died before that was on the disk.
      leave: { place, _ throws(FileError) in try files.synchronizeDirectory(destination.path(of: place)) },
      other: { place, added throws(FileError) in
        let to = destination.path(of: place)
        guard added.kind == .regular, try files.status(of: to)?.identity == added.identity else { return }
        try files.unlink(to)
      })
  }

  // MARK: Files of one's own

  /// Gives each file in a folder content of its own where it shares content with a kept file.
  ///
  /// Writing into it then changes no kept file. The content is the same before, after and at each instant in between.
  /// A file whose other names are elsewhere is left alone: those names are somebody else's business.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - kept: Returns the kept files; called only when they are needed.
  ///   - draft: A name on the same volume for a copy before it gets its own name.
  /// - Throws: `FileError` when something could not be done; the files are still whole.
  func separate(
    _ folder: SupportFolder, from kept: () throws(FileError) -> Set<FileStatus.Identity>, by draft: String
  ) throws(FileError) {
    var known: Set<FileStatus.Identity>?
    var changed: Set<String> = []
    try walk(
      folder,
      leave: { place, _ throws(FileError) in
        if changed.contains(place) { try files.synchronizeDirectory(folder.path(of: place)) }
      },
      other: { place, status throws(FileError) in
        guard status.kind == .regular, status.linkCount > 1 else { return }
        if known == nil { known = try kept() }
        guard known?.contains(status.identity) == true else { return }
        if try files.status(of: draft) != nil { try files.unlink(draft) }
        try copyFile(folder.path(of: place), to: draft, attributes: status.attributes)
        try files.rename(draft, to: folder.path(of: place))
        changed.insert(PathText.split(place).folder)
      })
  }

  /// Returns the files in a folder and in the folders inside it.
  func identities(in folder: String) throws(FileError) -> Set<FileStatus.Identity> {
    var identities: Set<FileStatus.Identity> = []
    try walk(SupportFolder(path: folder), limit: Self.removalLimit) { _, status throws(FileError) in
      if status.kind == .regular { identities.insert(status.identity) }
    }
    return identities
  }
}

extension FileStatus {
  /// The permissions and the owner for a folder like this one that is to be filled, even if this one is read-only.
  fileprivate var writableAttributes: FileAttributes {
    FileAttributes(mode: attributes.mode | 0o700, owner: owner, group: group)
  }

  /// The permissions for the owner alone, and the owner.
  fileprivate var privateAttributes: FileAttributes {
    FileAttributes(mode: 0o700, owner: owner, group: group)
  }
}
