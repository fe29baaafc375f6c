import Foundation
import HeirloomModel

struct SetAsideStores: VaultPart {
  let place: StorePlace

  func folders() throws(VaultError) -> [String] {
    try VaultError.wrapping { () throws(FileError) in
      guard try files.status(of: location.incompatible)?.kind == .directory else { return [] }
      var sets: [String] = []
      for name in try files.names(in: location.incompatible) {
        if try files.status(of: PathText.join(location.incompatible, name))?.kind == .directory {
          sets.append(name)
        }
      }
      return sets
    }
  }

  func all() throws(VaultError) -> [SetAsideFiles] {
    try VaultError.wrapping { () throws(FileError) in
      guard try files.status(of: location.incompatible)?.kind == .directory else { return [] }
      var sets: [SetAsideFiles] = []
      for folder in try files.names(in: location.incompatible) {
        guard let name = VersionName(dated: folder) else { continue }
        let path = PathText.join(location.incompatible, folder)
        guard let status = try files.status(of: path), status.kind == .directory else { continue }
        // A notice that another user may have written is not shown as ours.
        let isTrusted = try place.trust.isTrusted(status)
        let pending = isTrusted ? try content(of: SetAsideFiles.noticeName, in: path) : nil
        let acknowledged = pending == nil && isTrusted ? try content(of: SetAsideFiles.acknowledgedName, in: path) : nil
        sets.append(
          SetAsideFiles(
            name: folder, time: name.time, path: path, notice: pending ?? acknowledged,
            isAcknowledged: acknowledged != nil, adoption: try adoption(ofSetAt: path)))
      }
      return sets.ordered { ($0.time, $0.name) < ($1.time, $1.name) }
    }
  }

  private func content(of name: String, in folder: String) throws(FileError) -> [UInt8]? {
    let path = PathText.join(folder, name)
    guard let status = try files.status(of: path), status.kind == .regular, status.size <= SetAsideFiles.byteLimit
    else {
      return nil
    }
    return try files.readFile(path, limit: SetAsideFiles.byteLimit)
  }

  /// The file counts even if a crash left it empty.
  private func adoption(ofSetAt folder: String) throws(FileError) -> ReturnRecord? {
    guard try files.status(of: PathText.join(folder, SetAsideFiles.adoptionName)) != nil else { return nil }
    let bytes = try content(of: SetAsideFiles.adoptionName, in: folder) ?? []
    return (try? JSONDecoder().decode(ReturnRecord.self, from: Data(bytes))) ?? ReturnRecord()
  }

  func acknowledgeNotice(of name: String) throws(VaultError) {
    guard VersionName(dated: name) != nil else { return }
    let folder = PathText.join(location.incompatible, name)
    try VaultError.wrapping { () throws(FileError) in
      let path = PathText.join(folder, SetAsideFiles.noticeName)
      guard try files.status(of: path) != nil else { return }
      try files.rename(path, to: PathText.join(folder, SetAsideFiles.acknowledgedName))
      try files.synchronizeDirectory(folder)
    }
  }

  func find(named name: String) throws(VaultError) -> SetAsideFiles {
    guard let set = try all().first(where: { $0.name == name }) else {
      throw .unusableSetAsideStore(id: name, reason: "there is no such set")
    }
    let reason = try VaultError.wrapping { () throws(FileError) in try place.trust.objection(toFolder: set.path) }
    if let reason { throw .unusableSetAsideStore(id: name, reason: reason) }
    let status = try VaultError.wrapping { () throws(FileError) in
      try files.status(of: set.storePath(named: location.name))
    }
    // Work on a link would change its target.
    guard let status, status.kind == .regular else {
      throw .unusableSetAsideStore(
        id: name, reason: status.map { "\(location.name) is a \($0.kind.rawValue)" } ?? "\(location.name) is not there")
    }
    return set
  }

  /// Where there is no store, external files that the set's own will replace are kept in a folder.
  func keepReplaced(by work: WorkFolder) throws {
    guard try files.status(of: work.replacements) != nil else { return }
    let folder = try makeFolderOfFiles()
    try tree.keepReplaced(
      by: work.replacements, of: try place.supportFolder(), in: PathText.join(folder, location.supportName))
    try files.synchronizeDirectory(folder)
    place.report(.movedSideFilesAside(path: folder))
  }

  private func makeFolderOfFiles() throws -> String {
    let companion = try place.companionStatus()
    try tree.ensure(location.incompatible, like: companion)
    let name = VersionName(time: place.configuration.now(), identifier: files.uniqueIdentifier()).text
    let folder = PathText.join(location.incompatible, name)
    try files.makeDirectory(folder, attributes: companion.attributes)
    try files.synchronizeDirectory(location.incompatible)
    try files.synchronizeDirectory(location.companion)
    return folder
  }

  /// SQLite would read side files that have no store as the new store's.
  func moveSideFiles() throws {
    let left = try location.sideFiles.filter { path throws(FileError) in try files.status(of: path) != nil }
    guard !left.isEmpty else { return }
    let folder = try makeFolderOfFiles()
    // Not by a rename: only the removal of the old name might become durable.
    for path in left {
      guard let status = try files.status(of: path) else { continue }
      let to = PathText.join(folder, PathText.split(path).name)
      try tree.linkOrCopy(path, to: to, attributes: status.attributes)
    }
    try files.synchronizeDirectory(folder)
    for path in left { try files.unlink(path) }
    try files.synchronizeDirectory(location.directory)
    place.report(.movedSideFilesAside(path: folder))
  }

  func noteAdoption(_ manifest: VaultManifest) throws(FileError) {
    guard let path = adoptionPath(manifest) else { return }
    let folder = PathText.split(path).folder
    // The user may have removed the set-aside store: there is nothing to record then.
    guard try files.status(of: folder)?.kind == .directory else { return }
    if try files.status(of: path) == nil {
      let adoption = ReturnRecord(time: manifest.time, replaced: manifest.keptFolder)
      let bytes = (try? JSONEncoder().encode(adoption)) ?? Data()
      try files.writeNewFile(path, bytes: Array(bytes), attributes: FileAttributes(mode: 0o644))
    }
    try files.synchronizeDirectory(folder)
  }

  func isAdoptionNoted(_ manifest: VaultManifest) throws(FileError) -> Bool {
    guard let path = adoptionPath(manifest) else { return false }
    return try files.status(of: path) != nil
  }

  private func adoptionPath(_ manifest: VaultManifest) -> String? {
    manifest.adoptedSet.map {
      PathText.join(PathText.join(location.incompatible, $0), SetAsideFiles.adoptionName)
    }
  }
}

extension VaultPart {
  var aside: SetAsideStores { SetAsideStores(place: place) }
}
