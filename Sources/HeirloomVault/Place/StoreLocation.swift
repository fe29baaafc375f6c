import HeirloomModel

/// The location of a store and of everything that belongs to it.
///
/// All paths are absolute, without symbolic links in the folders above the store. If the store's own name is a link,
/// it was followed once. Everything beside a store is beside the real file, as SQLite's side files are.
package struct StoreLocation: Hashable, Sendable {
  /// The ending of the companion folder's name.
  package static let companionSuffix = ".heirloom"
  /// The endings of SQLite's side files that hold data.
  package static let dataSuffixes = ["-wal", "-journal"]
  /// The endings of all of SQLite's side files.
  package static let sideSuffixes = ["-wal", "-shm", "-journal"]
  /// The ending of a `-wal` that SQLite could not read to its end, kept beside the previous version of its store.
  ///
  /// Under the plain name, SQLite would treat it as the version's own `-wal`, and drop it.
  package static let unreadLogSuffix = "-wal.unread"
  /// The name of a snapshot, in the companion folder and in a previous version.
  package static let snapshotName = "model.json.gz"
  /// The name of a manifest, in the companion folder and in a previous version.
  package static let manifestName = "manifest.json"

  /// The folder that holds the store.
  package let directory: String
  /// The name of the store's main file.
  package let name: String

  /// Resolves a store's path; the file need not exist, but its folder must.
  ///
  /// Throws ``VaultError/notAFile(path:found:)`` for a broken symbolic link or a path that can't name a file, and
  /// ``VaultError/withoutStore(_:)`` if the folder can't be found.
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

  // MARK: The set

  /// The store's main file.
  package var path: String { PathText.join(directory, name) }
  /// The files that SQLite may keep beside the main file.
  package var sideFiles: [String] { Self.sideSuffixes.map { path + $0 } }
  /// The name of the folder that holds external binary data, such as `.Journal_SUPPORT`.
  package var supportName: String { Self.supportName(forStore: name) }
  /// The folder that holds external binary data; it may not exist.
  package var support: String { PathText.join(directory, supportName) }

  // MARK: The companion folder

  /// The folder that holds all files of Heirloom.
  package var companion: String { path + Self.companionSuffix }
  /// The snapshot of the last-used model.
  package var snapshot: String { PathText.join(companion, Self.snapshotName) }
  /// The folder of the previous versions.
  package var previous: String { PathText.join(companion, "previous") }
  /// The folder of the set-aside stores.
  package var incompatible: String { PathText.join(companion, "incompatible") }
  /// The folder of the candidates.
  package var incoming: String { PathText.join(companion, "incoming") }
  /// The manifest of an unfinished operation.
  package var manifest: String { PathText.join(companion, Self.manifestName) }
  /// The `-wal` that SQLite could not read to its end, until it is stored with a previous version.
  package var unreadLog: String { PathText.join(companion, String(Self.unreadLogSuffix.dropFirst())) }
  /// The draft of the manifest, which is then renamed.
  package var manifestDraft: String { manifest + ".tmp" }
  /// The file that assistants lock; it is never removed.
  package var lock: String { PathText.join(companion, "lock") }

  // MARK: Names

  /// Returns the name of the folder, such as `previous`, that holds a kept store or candidate; `nil` outside of them.
  ///
  /// Links in the path are not followed.
  package static func keptFolder(of path: String) -> String? {
    // Most paths contain no such folder.
    guard path.contains(companionSuffix) else { return nil }
    let parts = path.names(separatedBy: "/", omittingEmptySubsequences: true)
    return zip(parts, parts.dropFirst()).first { folder, name in
      folder.hasSuffix(companionSuffix) && ["previous", "incompatible", "incoming"].contains(name)
    }.map { String($1) }
  }

  /// Returns true for the name of a folder of external binary data of any store.
  package static func isSupportName(_ name: some StringProtocol) -> Bool {
    name.hasPrefix(".") && name.hasSuffix("_SUPPORT")
  }

  /// Returns the name of a store's folder of external binary data.
  ///
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
