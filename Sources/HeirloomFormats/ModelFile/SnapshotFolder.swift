import HeirloomModel

/// Sources, snapshots and lock, not yet compared with each other.
package struct SnapshotFolder: Equatable, Sendable {
  package let path: String
  /// Of the model bundle in the folder.
  package let sources: ModelVersionList?
  /// By version.
  package let snapshots: [String: ModelFile]
  package let lock: VersionLock?

  /// A lock that is named after the bundle takes precedence.
  package let lockPath: String

  /// From the lock's floor on, in the lock's order.
  package var missingNames: [String] {
    lock?.missingNames { snapshots[$0] != nil || sources?.version(named: $0) != nil } ?? []
  }

  /// Reads no models; throws ``ModelReadingError`` for several bundles or a damaged lock.
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
      let version = FileNames.base(name, without: name.hasSuffix(".gz") ? ".json.gz" : ".json")
      guard snapshots[version] == nil else {
        let reason =
          "it contains two snapshots of \"\(version)\" (\(version).json and \(version).json.gz); one was expected"
        throw ModelReadingError(path: path, problem: .malformed(reason: reason))
      }
      snapshots[version] = try ModelFile(path + "/" + name)
    }
    self.snapshots = snapshots
  }

  /// For a folder that isn't a bundle itself; sorted.
  package static func bundles(in path: String) -> [String] {
    ((try? FileContents.names(in: path)) ?? []).filter(FileNames.isBundle).ordered().map { path + "/" + $0 }
  }

  /// JSON files that aren't readable snapshots don't count.
  package static func holdsModels(_ path: String) -> Bool {
    ((try? FileContents.names(in: path)) ?? []).contains { name in
      FileNames.isBundle(name) || FileNames.isSnapshot(name) && (try? ModelFile.read(path + "/" + name)) != nil
    }
  }

  package static func lockPath(in folder: String) -> String { folder + "/" + FileNames.lock }
}
