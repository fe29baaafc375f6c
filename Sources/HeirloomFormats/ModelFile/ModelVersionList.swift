import HeirloomModel

/// The versions of a model in one bundle or folder, listed without being read.
package struct ModelVersionList: Equatable, Sendable {
  /// One version.
  package struct Version: Equatable, Sendable {
    /// The version's name: its file name without extension.
    package let name: String
    /// The file that the version is read from.
    package let file: ModelFile
    /// The lock's entry of a shipped version; `nil` if there is none.
    package let entry: VersionLock.Entry?
    /// True if something other than the lock determines the version's position.
    package var isPlanned: Bool = false

    /// The version's checksum in the lock.
    package var lockedChecksum: String? { entry?.checksum }
  }

  /// The name of the bundle or folder, without extension.
  package let name: String
  /// The versions in the order of `lock.json`, or without a lock in the natural order of their names.
  package let versions: [Version]
  /// The name of the current version: the one that the bundle specifies, else the only or last one.
  ///
  /// If the path is that of a single version, that one is current. It is `nil` only for an empty list.
  package let currentVersionName: String?
  /// The lock that determines the order; `nil` if there is none.
  package private(set) var lock: VersionLock?
  /// The lock's file; `nil` if there is none.
  package private(set) var lockPath: String?
  /// The warnings about the lock, one sentence each.
  package private(set) var warnings: [String] = []
  /// The hops that the app's own code migrates, according to the versions' source.
  package private(set) var stepsByCode: [VersionLock.Step] = []

  /// The current version.
  package var currentVersion: Version? {
    versions.first { $0.name == currentVersionName }
  }

  /// Returns the version of the given name; `nil` if there is none.
  package func version(named name: String) -> Version? {
    versions.first { $0.name == name }
  }

  /// The consecutive versions: those of a plan if there is one, else all.
  package var successiveVersions: [Version] {
    let planned = versions.filter(\.isPlanned)
    return planned.isEmpty ? versions : planned
  }

  /// Returns true if a version precedes another: as planned if both are, else by the natural order of names.
  package func precedes(_ name: String, _ other: String) -> Bool {
    let places = [name, other].map { name in versions.firstIndex { $0.isPlanned && $0.name == name } }
    guard let place = places[0], let otherPlace = places[1] else { return NaturalOrder.precedes(name, other) }
    return place < otherPlace
  }

  /// Lists the versions at the path of a bundle, a folder of snapshots, a version in a bundle, or a single model.
  ///
  /// A bundle's versions are in the order of the lock beside it: `NAME.lock.json`, or `lock.json` if the folder has no
  /// other bundle. The list for one version of a bundle has all of them.
  ///
  /// Throws ``ModelReadingError`` if there is no model at the path, or if the bundle's current version file or its lock
  /// is damaged.
  package init(_ path: String) throws(ModelReadingError) {
    let file = try ModelFile(path)
    switch file.kind {
    case .sourceBundle: self = try Self.sourceBundle(file)
    case .compiledBundle: self = try Self.compiledBundle(file)
    case .snapshotFolder: self = try Self.snapshotFolder(file)
    case .source: self = try Self.sisters(of: file, ending: FileNames.sourceExtension, in: .sourceBundle)
    case .compiled: self = try Self.sisters(of: file, ending: FileNames.compiledExtension, in: .compiledBundle)
    case .snapshot, .inMemory: self = Self.single(file)
    }
  }

  /// Creates a list of versions in memory, in the given order, with the lock in a folder.
  ///
  /// Throws ``ModelReadingError`` for a damaged lock.
  package init(
    named name: String, held versions: [(name: String, file: ModelFile, isPlanned: Bool)], current: String,
    stepsByCode: [VersionLock.Step], lockIn folder: String
  ) throws(ModelReadingError) {
    let beside = try AdjacentLock(inFolder: folder)
    let lock = beside.lock
    self.init(
      name: name,
      versions: versions.map { version in
        Version(
          name: version.name, file: version.file,
          entry: lock?.entry(named: version.name), isPlanned: version.isPlanned)
      }, currentVersionName: current)
    self.stepsByCode = stepsByCode
    self.lock = lock
    lockPath = lock == nil ? nil : beside.path
    warnings = beside.warnings
    warnMissing(in: "source")
  }

  private init(name: String, versions: [Version], currentVersionName: String?) {
    self.name = name
    self.versions = versions
    self.currentVersionName = currentVersionName
  }

  // MARK: - Kinds of bundles

  private static func sourceBundle(_ bundle: ModelFile) throws(ModelReadingError) -> ModelVersionList {
    let versions = try files(in: bundle.path, ending: FileNames.sourceExtension)
    let note = bundle.path + "/" + FileNames.currentVersion
    var current: String?
    if FileContents.exists(note) {
      current = try plist(note)["_XCCurrentVersionName"]?.stringValue.map {
        FileNames.base($0, without: FileNames.sourceExtension)
      }
    }
    return try list(bundle, FileNames.sourceBundleExtension, versions, current: current, note: note)
  }

  private static func compiledBundle(_ bundle: ModelFile) throws(ModelReadingError) -> ModelVersionList {
    let versions = try files(in: bundle.path, ending: FileNames.compiledExtension)
    let note = bundle.path + "/" + FileNames.versionInfo
    var current: String?
    if FileContents.exists(note) {
      current = try plist(note)["NSManagedObjectModel_CurrentVersionName"]?.stringValue
    }
    return try list(bundle, FileNames.compiledBundleExtension, versions, current: current, note: note)
  }

  private static func list(
    _ bundle: ModelFile, _ ending: String, _ versions: [Version], current: String?, note: String
  ) throws(ModelReadingError) -> ModelVersionList {
    guard !versions.isEmpty else {
      throw ModelReadingError(path: bundle.path, problem: .notModel(.bundleWithoutVersions))
    }
    // Choosing another version could migrate stores to it by mistake.
    if let current, !versions.contains(where: { $0.name == current }) {
      let reason = "it names \"\(current.prefix(80))\" as current version, which is not in the bundle"
      throw ModelReadingError(path: note, problem: .malformed(reason: reason))
    }
    return try ordered(versions, ofBundle: bundle.path, ending, current: current)
  }

  private static func ordered(
    _ versions: [Version], ofBundle bundle: String, _ ending: String, current: String?
  ) throws(ModelReadingError) -> ModelVersionList {
    let beside = try AdjacentLock(ofBundle: bundle)
    var files: [String: ModelFile] = [:]
    for version in versions { files[version.name] = version.file }
    let versions = ordered(files, by: beside.lock ?? VersionLock())
    var list = ModelVersionList(
      name: FileNames.base(bundle, without: ending), versions: versions,
      currentVersionName: current ?? versions.last?.name)
    list.lock = beside.lock
    list.lockPath = beside.lock == nil ? nil : beside.path
    list.warnings = beside.warnings
    list.warnMissing(in: "bundle")
    return list
  }

  /// Adds a warning about versions in the lock that don't exist.
  private mutating func warnMissing(in place: String) {
    guard let lockPath, let missing = lock?.missingNames(where: { version(named: $0) != nil }), !missing.isEmpty else {
      return
    }
    let names = missing.prefix(3).map { "\"\($0.prefix(80))\"" }.joined(separator: ", ")
    warnings.append(
      "\(lockPath) names \(missing.count == 1 ? "a version" : "\(missing.count) versions") that the \(place) lacks"
        + " (\(names)\(missing.count > 3 ? ", …" : "")): stores of \(missing.count == 1 ? "it" : "them") can't be recognized."
    )
  }

  /// Returns the locked versions in the lock's order, then the others by name.
  private static func ordered(_ files: [String: ModelFile], by lock: VersionLock) -> [Version] {
    let locked = lock.namedVersions.map(\.name)
    let others = files.keys.filter { !locked.contains($0) }.ordered { NaturalOrder.precedes($0, $1) }
    return (locked + others).compactMap { name in
      files[name].map { file in
        Version(name: name, file: file, entry: lock.entry(named: name))
      }
    }
  }

  /// Returns the versions of a folder with a source bundle, exported snapshots, or both, and optionally a lock.
  private static func snapshotFolder(_ folder: ModelFile) throws(ModelReadingError) -> ModelVersionList {
    let found = try SnapshotFolder(folder.path)
    if let name = found.missingNames.first {
      let reason = "it names the version \"\(name.prefix(80))\", which is not in the folder"
      throw ModelReadingError(path: found.lockPath, problem: .malformed(reason: reason))
    }
    let sources = found.sources
    var files = found.snapshots
    // A version's source takes precedence over its snapshot, since the app is built from it.
    for version in sources?.versions ?? [] { files[version.name] = version.file }
    let versions = ordered(files, by: found.lock ?? VersionLock())
    guard let last = versions.last else {
      throw ModelReadingError(path: folder.path, problem: .notModel(.bundleWithoutVersions))
    }
    var list = ModelVersionList(
      name: sources?.name ?? FileNames.base(folder.path), versions: versions,
      currentVersionName: sources?.currentVersionName ?? last.name)
    list.lock = found.lock
    list.lockPath = found.lock == nil ? nil : found.lockPath
    return list
  }

  /// Returns all versions of the bundle that contains a version.
  private static func sisters(
    of file: ModelFile, ending: String, in kind: ModelFile.Kind
  ) throws(ModelReadingError) -> ModelVersionList {
    // The file "contents" represents its folder.
    let isContents = FileNames.base(file.path) == FileNames.source
    let path = isContents ? FileNames.folder(of: file.path) : file.path
    let folder = FileNames.folder(of: path)
    let isInBundle =
      kind == .sourceBundle
      ? folder.hasSuffix(FileNames.sourceBundleExtension) : folder.hasSuffix(FileNames.compiledBundleExtension)
    guard isInBundle else { return single(file) }
    let versions = try files(in: folder, ending: ending)
    let name = FileNames.base(path, without: ending)
    let bundleEnding = kind == .sourceBundle ? FileNames.sourceBundleExtension : FileNames.compiledBundleExtension
    guard versions.contains(where: { $0.name == name }) else { return single(file) }
    return try ordered(versions, ofBundle: folder, bundleEnding, current: name)
  }

  private static func single(_ file: ModelFile) -> ModelVersionList {
    var name = FileNames.base(file.path)
    for ending in [FileNames.sourceExtension, FileNames.compiledExtension] + FileNames.snapshotExtensions
    where name.hasSuffix(ending) {
      name = String(name.dropLast(ending.count))
    }
    let version = Version(name: name, file: file, entry: nil)
    return ModelVersionList(name: name, versions: [version], currentVersionName: name)
  }

  private static func files(in folder: String, ending: String) throws(ModelReadingError) -> [Version] {
    var versions: [Version] = []
    for name in try FileContents.names(in: folder) where name.hasSuffix(ending) {
      let kind: ModelFile.Kind = ending == FileNames.sourceExtension ? .source : .compiled
      // Unreadable formats are listed too, since they may not be needed.
      let file = ModelFile(unchecked: folder + "/" + name, kind: kind)
      versions.append(Version(name: FileNames.base(name, without: ending), file: file, entry: nil))
    }
    return versions.ordered { NaturalOrder.precedes($0.name, $1.name) }
  }

  private static func plist(_ path: String) throws(ModelReadingError) -> PropertyListValue {
    let bytes = try FileContents.bytes(path, limit: 4 << 20)
    do throws(FormatError) {
      return try PropertyListValue(contentsOf: bytes)
    } catch {
      throw ModelReadingError(path: path, error)
    }
  }
}
