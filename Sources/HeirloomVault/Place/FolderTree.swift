import Foundation

/// A folder of external data that belongs to the store, a previous version or a set-aside store.
package struct SupportFolder: Equatable, Sendable {
  /// The name of the folder, inside a support folder, that holds the files that rows refer to.
  package static let dataName = "_EXTERNAL_DATA"

  /// The folder; it may not exist.
  let path: String
  /// The target of the folder of external data, if that is a symbolic link that may be followed; otherwise `nil`.
  var data: String?

  /// Creates a support folder from resolved paths.
  package init(path: String, data: String? = nil) {
    self.path = path
    self.data = data
  }

  /// Returns the path of a file in the folder, below `data` if that is set and the file is in there.
  ///
  /// `place` is a path relative to the folder; empty for the folder itself.
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

/// Operations on whole folders, which never follow a symbolic link.
package struct FolderTree {
  let files: any FileOperations
  /// Receives the attributes that could not be copied, with the path of the copy.
  private let leftOut: (String, PassedOver) -> Void

  /// Creates the operations for a file system.
  package init(files: any FileOperations, leftOut: @escaping (String, PassedOver) -> Void = { _, _ in }) {
    self.files = files
    self.leftOut = leftOut
  }

  /// The depth limit for folders to be copied or linked.
  ///
  /// Each folder is reached by its path, so the time grows with the square of the depth.
  private static let depthLimit = 512
  /// The depth limit for folders to be removed, which may have been moved into other folders since.
  private static let removalLimit = 1_024

  struct Content: Equatable, Sendable {
    var fileCount = 0
    /// The size of all files together, in bytes.
    var byteCount: Int64 = 0
    /// The names that were skipped because they are neither files nor folders.
    var passedOver = PassedOver()
  }

  // MARK: Folders

  /// Creates a folder unless it exists, with the owner and permissions of `attributes` or of the model.
  ///
  /// Throws ``VaultError/unusableFolder(path:reason:)`` if it is no folder, or is on another volume than the model.
  func ensure(_ path: String, like model: FileStatus, attributes: FileAttributes? = nil) throws(VaultError) {
    try VaultError.wrapping { () throws(FileError) in
      guard try files.status(of: path) == nil else { return }
      do throws(FileError) {
        try files.makeDirectory(path, attributes: attributes ?? model.attributes)
      } catch {
        // Another process may have created it at the same moment.
        guard try files.status(of: path) != nil else { throw error }
      }
    }
    if let reason = try objection(to: path, on: model) { throw .unusableFolder(path: path, reason: reason) }
  }

  /// Returns the reason why a path can't be a folder of the vault; `nil` if it can, or if nothing exists there.
  func objection(to path: String, on model: FileStatus) throws(VaultError) -> String? {
    guard let status = try VaultError.wrapping({ () throws(FileError) in try files.status(of: path) }) else {
      return nil
    }
    if status.kind != .directory { return "it is a \(status.kind.rawValue), not a folder" }
    return status.identity.device == model.identity.device ? nil : "it is on another volume than the store"
  }

  /// Removes a file, or a folder and its content; does nothing if there is none.
  package func remove(_ path: String) throws(FileError) {
    guard let status = try files.status(of: path) else { return }
    guard status.kind == .directory else { return try files.unlink(path) }
    let folder = SupportFolder(path: path)
    try walk(
      folder, limit: Self.removalLimit,
      leave: { place, _ throws(FileError) in try files.removeDirectory(folder.path(of: place)) },
      other: { place, _ throws(FileError) in try files.unlink(folder.path(of: place)) })
  }

  /// Visits a folder and its content by relative paths; does nothing if the path is no folder.
  ///
  /// `enter` is called for each folder before its content, and returns true to visit the content; `leave` is called
  /// after the content. `other` is called for everything that is not a folder.
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
      // The app removed a name that vanishes meanwhile, so its store no longer refers to it.
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

  /// Hard links every file of a folder into a new folder, or copies it where links are refused.
  ///
  /// Names that are neither files nor folders are skipped and counted:
  /// neither Core Data nor we create such names, and a symbolic link could refer to someone else's files.
  /// The new folders are synced, except for the outermost one's name.
  func keep(_ source: SupportFolder, at destination: String) throws(FileError) -> Content {
    var content = Content()
    let kept = SupportFolder(path: destination)
    try walk(
      source,
      enter: { place, status throws(FileError) in
        // Folders above a link's target may have restricted access to it.
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

  func linkOrCopy(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) {
    do throws(FileError) {
      try files.link(path, to: newPath)
    } catch {
      guard error.isRefusedLink else { throw error }
      try copyFile(path, to: newPath, attributes: attributes)
    }
  }

  /// Copies a file, and reports attributes it could not copy.
  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) {
    leftOut(newPath, try files.copyFile(path, to: newPath, attributes: attributes))
  }

  // MARK: Adding

  /// Copies the source's files that `present` lacks into one folder, and those that differ there into another.
  ///
  /// Both folders are created when needed. Only the folder of replacements is synced. Returns the skipped names, and
  /// throws if `present` has a file where a folder is needed, or the other way round.
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

  /// Throws if a path that needs a file or folder is of another kind.
  private func checkKind(_ kind: FileStatus.Kind, _ found: FileStatus, at path: String) throws(FileError) {
    guard found.kind != kind else { return }
    throw FileError(
      .write, path, code: EEXIST,
      reason: "a \(found.kind.rawValue) has the name of a \(kind.rawValue) that is being restored")
  }

  /// Counts the files of a folder that another folder has under the same name with other content.
  ///
  /// `others` is ordered nearest first. A file doesn't count if one of them that stays has the same content.
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

  /// Returns true if two files are one, or have the same bytes; the two are not links.
  func isSame(
    _ path: String, _ status: FileStatus, as other: String, _ otherStatus: FileStatus
  ) throws(FileError) -> Bool {
    if status.identity == otherStatus.identity { return true }
    guard status.size == otherStatus.size else { return false }
    return try FileDescriptor.haveSameContent(path, other)
  }

  /// Creates a folder inside another one, with the folders between them, for the owner alone.
  private func makeFolders(upTo place: String, in folder: String) throws(FileError) {
    var path = folder
    let names = place.split(separator: "/").map(String.init)
    for name in [""] + names {
      if !name.isEmpty { path = PathText.join(path, name) }
      if try files.status(of: path) == nil { try files.makeDirectory(path, attributes: FileAttributes(mode: 0o700)) }
    }
  }

  /// Replaces files of a folder by those of another, and syncs them.
  ///
  /// At each instant a name has the old content or the new. The work can be interrupted anywhere and repeated while
  /// `replacements` exists. `draft` is an unused name for a file before it gets its own.
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
        // A rename from another folder could lose both names: only the removal of the old one may become durable.
        let next = PathText.join(PathText.split(to).folder, draft)
        if try files.status(of: next) != nil { try files.unlink(next) }
        try linkOrCopy(path, to: next, attributes: status.attributes)
        try files.rename(next, to: to)
      })
  }

  /// Keeps the files that `replace(by:in:draft:)` will replace, in a third folder under the same names, and syncs it.
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

  /// Adds the files that another folder lacks, and syncs the changed folders.
  ///
  /// No existing file is replaced: names of external files are never used twice.
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

  /// Removes the names that ``add(_:to:)`` gave the source's files in the destination.
  ///
  /// Copies can't be distinguished from the app's own files, so they stay. No row refers to them; they only take space.
  func takeBack(_ source: String, from destination: SupportFolder) throws(FileError) {
    let source = SupportFolder(path: source)
    try walk(
      source,
      enter: { place, _ throws(FileError) in
        try files.status(of: destination.path(of: place))?.kind == .directory
      },
      // Also if nothing is left to remove: an earlier run may have died between a removal and its sync.
      leave: { place, _ throws(FileError) in try files.synchronizeDirectory(destination.path(of: place)) },
      other: { place, added throws(FileError) in
        let to = destination.path(of: place)
        guard added.kind == .regular, try files.status(of: to)?.identity == added.identity else { return }
        try files.unlink(to)
      })
  }

  // MARK: Files of one's own

  /// Replaces each file in a folder that is hard linked to a kept file by a copy.
  ///
  /// Writing to it then changes no kept file. The content is the same before, after and at each instant in between.
  /// A file whose other names are not kept files is left alone. `kept` is called only if a file has several names.
  /// A failure leaves the files whole.
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

  /// Returns the identities of the files in a folder and its subfolders.
  func identities(in folder: String) throws(FileError) -> Set<FileStatus.Identity> {
    var identities: Set<FileStatus.Identity> = []
    try walk(SupportFolder(path: folder), limit: Self.removalLimit) { _, status throws(FileError) in
      if status.kind == .regular { identities.insert(status.identity) }
    }
    return identities
  }
}

extension FileStatus {
  /// The owner, and the permissions for a folder like this one that must be filled even if this one is read-only.
  fileprivate var writableAttributes: FileAttributes {
    FileAttributes(mode: attributes.mode | 0o700, owner: owner, group: group)
  }

  fileprivate var privateAttributes: FileAttributes {
    FileAttributes(mode: 0o700, owner: owner, group: group)
  }
}
