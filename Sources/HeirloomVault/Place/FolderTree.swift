import Foundation

/// A folder of external data that belongs to the store, a previous version or a set-aside store.
package struct SupportFolder: Equatable, Sendable {
  /// Inside a support folder; holds the files that rows refer to.
  package static let dataName = "_EXTERNAL_DATA"

  let path: String
  /// Set if the folder of external data is a symbolic link that may be followed.
  var data: String?

  package init(path: String, data: String? = nil) {
    self.path = path
    self.data = data
  }

  /// `place` is relative to the folder, and empty for the folder itself.
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
  private let leftOut: (String, PassedOver) -> Void

  package init(files: any FileOperations, leftOut: @escaping (String, PassedOver) -> Void = { _, _ in }) {
    self.files = files
    self.leftOut = leftOut
  }

  /// Each folder is reached by its path, so the time grows with the square of the depth.
  private static let depthLimit = 512
  /// Folders to be removed may have been moved into other folders since.
  private static let removalLimit = 1_024

  struct Content: Equatable, Sendable {
    var fileCount = 0
    var byteCount: Int64 = 0
    /// Names that are neither files nor folders.
    var passedOver = PassedOver()
  }

  // MARK: Folders

  /// Throws ``VaultError/unusableFolder(path:reason:)`` if the path is no folder, or is on another
  /// volume than the model.
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

  func objection(to path: String, on model: FileStatus) throws(VaultError) -> String? {
    guard let status = try VaultError.wrapping({ () throws(FileError) in try files.status(of: path) }) else {
      return nil
    }
    if status.kind != .directory { return "it is a \(status.kind.rawValue), not a folder" }
    return status.identity.device == model.identity.device ? nil : "it is on another volume than the store"
  }

  package func remove(_ path: String) throws(FileError) {
    guard let status = try files.status(of: path) else { return }
    guard status.kind == .directory else { return try files.unlink(path) }
    let folder = SupportFolder(path: path)
    try walk(
      folder, limit: Self.removalLimit,
      leave: { place, _ throws(FileError) in try files.removeDirectory(folder.path(of: place)) },
      other: { place, _ throws(FileError) in try files.unlink(folder.path(of: place)) })
  }

  /// `enter` returns true to visit the content; `other` is called for everything that is not a
  /// folder.
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

  /// Skips other names: neither Core Data nor we create them, and a link could refer to someone
  /// else's files.
  ///
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

  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) {
    leftOut(newPath, try files.copyFile(path, to: newPath, attributes: attributes))
  }

  // MARK: Adding

  /// Files that differ go to `replacements`, the only folder that is synced; throws if a file is
  /// where a folder is needed.
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

  private func checkKind(_ kind: FileStatus.Kind, _ found: FileStatus, at path: String) throws(FileError) {
    guard found.kind != kind else { return }
    throw FileError(
      .write, path, code: EEXIST,
      reason: "a \(found.kind.rawValue) has the name of a \(kind.rawValue) that is being restored")
  }

  /// `others` is ordered nearest first; a file doesn't count if one that stays has the same
  /// content.
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

  /// The two are not links.
  func isSame(
    _ path: String, _ status: FileStatus, as other: String, _ otherStatus: FileStatus
  ) throws(FileError) -> Bool {
    if status.identity == otherStatus.identity { return true }
    guard status.size == otherStatus.size else { return false }
    return try FileDescriptor.haveSameContent(path, other)
  }

  private func makeFolders(upTo place: String, in folder: String) throws(FileError) {
    var path = folder
    let names = place.split(separator: "/").map(String.init)
    for name in [""] + names {
      if !name.isEmpty { path = PathText.join(path, name) }
      if try files.status(of: path) == nil { try files.makeDirectory(path, attributes: FileAttributes(mode: 0o700)) }
    }
  }

  /// At each instant a name has the old content or the new; can be repeated while `replacements`
  /// exists.
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

  /// Keeps, in a third folder, the files that `replace(by:in:draft:)` will replace.
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

  /// Replaces no existing file: names of external files are never used twice.
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

  /// Copies can't be distinguished from the app's own files, so they stay: they only take space.
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

  /// Writing to a file then changes no kept file; at each instant its content is the same.
  ///
  /// A file whose other names are not kept files is left alone.
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

  func identities(in folder: String) throws(FileError) -> Set<FileStatus.Identity> {
    var identities: Set<FileStatus.Identity> = []
    try walk(SupportFolder(path: folder), limit: Self.removalLimit) { _, status throws(FileError) in
      if status.kind == .regular { identities.insert(status.identity) }
    }
    return identities
  }
}

extension FileStatus {
  /// For a folder that must be filled even if this one is read-only.
  fileprivate var writableAttributes: FileAttributes {
    FileAttributes(mode: attributes.mode | 0o700, owner: owner, group: group)
  }

  fileprivate var privateAttributes: FileAttributes {
    FileAttributes(mode: 0o700, owner: owner, group: group)
  }
}
