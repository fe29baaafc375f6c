import Foundation

/// A store that was moved aside, with all that belongs to it, in a folder of its own.
package struct AsideSet: Hashable, Sendable {
  /// The folder's name: the UTC time as people read it, then eight hexadecimal digits.
  package let name: String
  /// When it was moved, in seconds since 1970-01-01 UTC.
  package let time: Int64
  /// The folder.
  package let path: String
  /// What is to be told of it; `nil` if there is nothing.
  package let notice: [UInt8]?
  /// Whether somebody has acknowledged it.
  package let isAcknowledged: Bool
  /// What is known of its return to the store's place; `nil` if it has not returned.
  package let adoption: AsideAdoption?

  /// The store's main file; it may be gone.
  package func storePath(named name: String) -> String { PathText.join(path, name) }

  /// The name of the file that holds what is to be told.
  static let noticeName = "notice.json"
  /// Its name when somebody has acknowledged it.
  static let acknowledgedName = "notice-acknowledged.json"
  /// The name of the file that tells that it has returned to the store's place.
  static let adoptionName = "adopted.json"
  /// The longest of these files that is read, in bytes.
  static let byteLimit = 65_536
}

/// What a set that was moved aside says about its return to the store's place.
package struct AsideAdoption: Hashable, Sendable, Codable {
  /// When it returned, in seconds since 1970-01-01 UTC; `nil` if that was not kept.
  package var time: Int64?
  /// The name of the version that holds the store that was there; `nil` if there was none.
  package var replaced: String?

  /// Creates a description.
  package init(time: Int64? = nil, replaced: String? = nil) {
    self.time = time
    self.replaced = replaced
  }
}

extension StoreVault {
  /// Lists the sets that were moved aside, the oldest first, without a lock.
  ///
  /// - Returns: Sets; one that is just being moved is among them when its notice is on the disk.
  /// - Throws: ``VaultError/file(_:)`` when the folder can't be read.
  package func asideSets() throws(VaultError) -> [AsideSet] {
    try VaultError.wrapping { () throws(FileError) in
      guard try files.status(of: location.incompatible)?.kind == .directory else { return [] }
      var sets: [AsideSet] = []
      for folder in try files.names(in: location.incompatible) {
        guard let name = VersionName(dated: folder) else { continue }
        let path = PathText.join(location.incompatible, folder)
        guard let status = try files.status(of: path), status.kind == .directory else { continue }
        // What a stranger says is not told as if it were ours.
        let isTrusted = try isTrusted(status)
        let pending = isTrusted ? try content(of: AsideSet.noticeName, in: path) : nil
        let acknowledged = pending == nil && isTrusted ? try content(of: AsideSet.acknowledgedName, in: path) : nil
        sets.append(
          AsideSet(
            name: folder, time: name.time, path: path, notice: pending ?? acknowledged,
            isAcknowledged: acknowledged != nil, adoption: try adoption(ofSetAt: path)))
      }
      return sets.sorted { ($0.time, $0.name) < ($1.time, $1.name) }
    }
  }

  private func content(of name: String, in folder: String) throws(FileError) -> [UInt8]? {
    let path = PathText.join(folder, name)
    guard let status = try files.status(of: path), status.kind == .regular, status.size <= AsideSet.byteLimit else {
      return nil
    }
    return try files.readFile(path, limit: AsideSet.byteLimit)
  }

  /// That the file is there is what counts: a crash may have left it without content.
  private func adoption(ofSetAt folder: String) throws(FileError) -> AsideAdoption? {
    guard try files.status(of: PathText.join(folder, AsideSet.adoptionName)) != nil else { return nil }
    let bytes = try content(of: AsideSet.adoptionName, in: folder) ?? []
    return (try? JSONDecoder().decode(AsideAdoption.self, from: Data(bytes))) ?? AsideAdoption()
  }

  /// Notes that somebody has read what was to be told of a set.
  ///
  /// - Parameter name: The set's name.
  /// - Throws: ``VaultError/file(_:)`` when it can't be noted; nothing happens if it was before.
  package func acknowledgeNotice(of name: String) throws(VaultError) {
    guard VersionName(dated: name) != nil else { return }
    let folder = PathText.join(location.incompatible, name)
    try VaultError.wrapping { () throws(FileError) in
      let path = PathText.join(folder, AsideSet.noticeName)
      guard try files.status(of: path) != nil else { return }
      try files.rename(path, to: PathText.join(folder, AsideSet.acknowledgedName))
      try files.synchronizeDirectory(folder)
    }
  }
}
