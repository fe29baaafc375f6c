import HeirloomModel

/// The location of a store and of everything that belongs to it.
///
/// All paths are absolute, without symbolic links in the folders above the store. If the store's own name is a link,
/// it was followed once. Everything beside a store is beside the real file, as SQLite's side files are.
package struct StoreLocation: Hashable, Sendable {
  package static let companionSuffix = ".heirloom"
  package static let dataSuffixes = ["-wal", "-journal"]
  package static let sideSuffixes = ["-wal", "-shm", "-journal"]
  /// Under the plain name, SQLite would treat it as a kept store's own `-wal`, and drop it.
  package static let unreadLogSuffix = "-wal.unread"
  package static let snapshotName = "model.json.gz"
  package static let manifestName = "manifest.json"

  package let directory: String
  package let name: String

  /// Throws ``VaultError/notAFile(path:found:)`` for a broken symbolic link or a path that can't
  /// name a file, and ``VaultError/withoutStore(_:)`` if the folder can't be found.
  package init(resolving path: String, files: some FileOperations) throws(VaultError) {
    let real: String
    do throws(FileError) {
      let status = try files.status(of: path)
      if status == nil {
        let (folder, name) = PathText.split(path)
        real = PathText.join(try files.resolvePath(folder.isEmpty ? "." : folder), name)
      } else if status?.kind == .symbolicLink {
        guard let target = try? files.resolvePath(path) else {
          throw FileError(.resolve, path, code: 0, reason: Self.danglingLink)
        }
        real = target
      } else {
        real = try files.resolvePath(path)
      }
    } catch {
      if error.reason == Self.danglingLink { throw .notAFile(path: path, found: Self.danglingLink) }
      throw .withoutStore(.file(error))
    }
    let (directory, name) = PathText.split(real)
    guard PathText.isFileName(name) else { throw .notAFile(path: path, found: "folder") }
    guard !PathText.hasEscape(real) else {
      throw .unusableFolder(
        path: path, reason: "its path has bytes that are not UTF-8, and SQLite can't open such a path")
    }
    self.directory = directory
    self.name = name
  }

  private static let danglingLink = "broken symbolic link"

  package var path: String { PathText.join(directory, name) }
  package var sideFiles: [String] { Self.sideSuffixes.map { path + $0 } }
  /// Such as `.Journal_SUPPORT`.
  package var supportName: String { Self.supportName(forStore: name) }
  package var support: String { PathText.join(directory, supportName) }

  package var companion: String { path + Self.companionSuffix }
  package var snapshot: String { PathText.join(companion, Self.snapshotName) }
  package var previous: String { PathText.join(companion, "previous") }
  /// The folder of the set-aside stores.
  package var incompatible: String { PathText.join(companion, "incompatible") }
  /// The folder of the candidates.
  package var incoming: String { PathText.join(companion, "incoming") }
  package var manifest: String { PathText.join(companion, Self.manifestName) }
  package var unreadLog: String { PathText.join(companion, String(Self.unreadLogSuffix.dropFirst())) }
  package var manifestDraft: String { manifest + ".tmp" }
  /// Never removed.
  package var lock: String { PathText.join(companion, "lock") }

  /// Such as `previous`; links in the path are not followed.
  package static func keptFolder(of path: String) -> String? {
    // Most paths contain no such folder.
    guard path.contains(companionSuffix) else { return nil }
    let parts = path.names(separatedBy: "/", omittingEmptySubsequences: true)
    return zip(parts, parts.dropFirst()).first { folder, name in
      folder.hasSuffix(companionSuffix) && ["previous", "incompatible", "incoming"].contains(name)
    }.map { String($1) }
  }

  package static func isSupportName(_ name: some StringProtocol) -> Bool {
    name.hasPrefix(".") && name.hasSuffix("_SUPPORT")
  }

  /// Core Data's rule: the store's name without its extension, between `.` and `_SUPPORT`.
  package static func supportName(forStore name: String) -> String {
    // Split by bytes: a scalar after the dot may form one character with it.
    let bytes = name.utf8
    var stem = Substring(name)
    if let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot != bytes.startIndex,
      bytes.index(after: dot) != bytes.endIndex
    {
      stem = name[..<dot]
    }
    return ".\(stem)_SUPPORT"
  }
}
