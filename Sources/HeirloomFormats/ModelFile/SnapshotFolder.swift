import HeirloomModel

/// The content of a folder of snapshots: sources, snapshots and lock, not yet compared.
package struct SnapshotFolder: Equatable, Sendable {
  /// The folder's path.
  package let path: String
  /// The versions of the model bundle in the folder; `nil` if there is none.
  package let sources: ModelVersionList?
  /// The exported snapshots by version.
  package let snapshots: [String: ModelFile]
  /// The lock; `nil` if there is none.
  package let lock: VersionLock?

  /// The path of the lock; one that is named after the bundle takes precedence.
  package let lockPath: String

  /// The missing versions from the lock's floor on, in the lock's order.
  package var missingNames: [String] {
    lock?.missingNames { snapshots[$0] != nil || sources?.version(named: $0) != nil } ?? []
  }

  /// Lists the content of the folder at a path, without reading models.
  ///
  /// Throws ``ModelReadingError`` for a folder with several bundles, or a damaged lock.
  package init(_ path: String) throws(ModelReadingError) {
    self.path = path
    let names = try FileContents.names(in: path)
    let bundles = names.filter { $0.hasSuffix(FileNames.sourceBundleExtension) }
    guard bundles.count <= 1 else {
      let reason = "it contains \(bundles.count) model bundles (\(bundles[0]), \(bundles[1])); at most one was expected"
      throw ModelReadingError(path: path, problem: .malformed(reason: reason))
    }
    sources = try bundles.first.map { name throws(ModelReadingError) in try ModelVersionList(path + "/" + name) }
    let own = bundles.first.map { path + "/" + FileNames.lock(ofBundle: $0) }
    lockPath = own.flatMap { FileContents.isNamed($0) ? $0 : nil } ?? Self.lockPath(in: path)
    lock = FileContents.isNamed(lockPath) ? try VersionLock(path: lockPath) : nil
    var snapshots: [String: ModelFile] = [:]
    for name in names where FileNames.isSnapshot(name) {
      let ending = name.hasSuffix(".gz") ? ".json.gz" : ".json"
      snapshots[FileNames.base(name, without: ending)] = try ModelFile(path + "/" + name)
    }
    self.snapshots = snapshots
  }

  /// Returns the bundles in a folder that isn't one itself, sorted.
  package static func bundles(in path: String) -> [String] {
    ((try? FileContents.names(in: path)) ?? []).filter(FileNames.isBundle).ordered().map { path + "/" + $0 }
  }

  /// Returns true for a folder with a model bundle or a readable snapshot; other JSON files don't count.
  package static func holdsModels(_ path: String) -> Bool {
    ((try? FileContents.names(in: path)) ?? []).contains { name in
      FileNames.isBundle(name) || FileNames.isSnapshot(name) && (try? ModelFile.read(path + "/" + name)) != nil
    }
  }

  /// Returns the path of the lock in a folder.
  package static func lockPath(in folder: String) -> String { folder + "/" + FileNames.lock }
}
