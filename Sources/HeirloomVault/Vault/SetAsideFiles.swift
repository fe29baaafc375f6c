import Foundation
import HeirloomModel

/// A set-aside store and its files, in a folder of their own.
package struct SetAsideFiles: Equatable, Sendable {
  /// The folder's name: the readable UTC time, then eight hexadecimal digits.
  package let name: String
  /// The time when it was set aside, in seconds since 1970-01-01 UTC.
  package let time: Int64
  /// The path of the folder.
  package let path: String
  /// The notice about the store, for the app to show; `nil` if there is none.
  package let notice: [UInt8]?
  /// True when the user has acknowledged the notice.
  package let isAcknowledged: Bool
  /// The record of the store's return to its place; `nil` if it has not returned.
  package let adoption: ReturnRecord?

  /// Returns the path of the store's main file; the file may be gone.
  package func storePath(named name: String) -> String { PathText.join(path, name) }

  static let noticeName = "notice.json"
  /// The name of the notice's file once it is acknowledged.
  static let acknowledgedName = "notice-acknowledged.json"
  /// The name of the file that records the store's return to its place.
  static let adoptionName = "adopted.json"
  /// The size limit for reading one of these files, in bytes.
  static let byteLimit = 65_536
}

/// The record of a set-aside store's return to its place.
package struct ReturnRecord: Equatable, Sendable, Codable {
  /// The time of the return, in seconds since 1970-01-01 UTC; `nil` if it was not recorded.
  package var time: Int64?
  /// The name of the previous version that holds the replaced store; `nil` if there was none.
  package var replaced: String?

  /// Creates a record.
  package init(time: Int64? = nil, replaced: String? = nil) {
    self.time = time
    self.replaced = replaced
  }
}

extension StoreVault {
  /// Lists the set-aside stores, the oldest first, without a lock.
  ///
  /// A store that is being set aside is included once its notice is on the disk.
  package func setAsideStores() throws(VaultError) -> [SetAsideFiles] {
    try VaultError.wrapping { () throws(FileError) in
      guard try files.status(of: location.incompatible)?.kind == .directory else { return [] }
      var sets: [SetAsideFiles] = []
      for folder in try files.names(in: location.incompatible) {
        guard let name = VersionName(dated: folder) else { continue }
        let path = PathText.join(location.incompatible, folder)
        guard let status = try files.status(of: path), status.kind == .directory else { continue }
        // A notice that another user may have written is not shown as ours.
        let isTrusted = try isTrusted(status)
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

  /// Reads the record of a return; the file counts even if a crash left it empty.
  private func adoption(ofSetAt folder: String) throws(FileError) -> ReturnRecord? {
    guard try files.status(of: PathText.join(folder, SetAsideFiles.adoptionName)) != nil else { return nil }
    let bytes = try content(of: SetAsideFiles.adoptionName, in: folder) ?? []
    return (try? JSONDecoder().decode(ReturnRecord.self, from: Data(bytes))) ?? ReturnRecord()
  }

  /// Records that the user acknowledged the notice about a set-aside store; does nothing if that was recorded before.
  package func acknowledgeNotice(of name: String) throws(VaultError) {
    guard VersionName(dated: name) != nil else { return }
    let folder = PathText.join(location.incompatible, name)
    try VaultError.wrapping { () throws(FileError) in
      let path = PathText.join(folder, SetAsideFiles.noticeName)
      guard try files.status(of: path) != nil else { return }
      try files.rename(path, to: PathText.join(folder, SetAsideFiles.acknowledgedName))
      try files.synchronizeDirectory(folder)
    }
  }
}
