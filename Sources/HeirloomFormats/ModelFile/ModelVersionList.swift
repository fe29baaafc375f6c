import HeirloomModel

/// The versions of a model in one bundle or folder, listed without being read.
package struct ModelVersionList: Equatable, Sendable {
  package struct Version: Equatable, Sendable {
    /// The file name without extension.
    package let name: String
    package let file: ModelFile
    package let entry: VersionLock.Entry?
    /// True if something other than the lock determines the version's position.
    package var isPlanned: Bool = false

    package var lockedChecksum: String? { entry?.checksum }
  }

  /// Of the bundle or folder, without extension.
  package let name: String
  /// In the order of `lock.json`, or without a lock in the natural order of their names.
  package let versions: [Version]
  /// The version that the bundle specifies, else the only or last one.
  ///
  /// For the path of a single version, that one is current; `nil` only for an empty list.
  package let currentVersionName: String?
  package private(set) var lock: VersionLock?
  package private(set) var lockPath: String?
  /// About the lock, one sentence each.
  package private(set) var warnings: [String] = []
  /// Hops that the app's own code migrates, according to the versions' source.
  package private(set) var stepsByCode: [VersionLock.Step] = []

  package var currentVersion: Version? {
    versions.first { $0.name == currentVersionName }
  }

  package func version(named name: String) -> Version? {
    versions.first { $0.name == name }
  }

  /// Those of a plan if there is one, else all.
  package var successiveVersions: [Version] {
    let planned = versions.filter(\.isPlanned)
    return planned.isEmpty ? versions : planned
  }

  package func precedes(_ name: String, _ other: String) -> Bool {
    let places = [name, other].map { name in versions.firstIndex { $0.isPlanned && $0.name == name } }
    guard let place = places[0], let otherPlace = places[1] else { return NaturalOrder.precedes(name, other) }
    return place < otherPlace
  }

  /// The path is that of a bundle, a folder of snapshots, a version in a bundle, or a single model.
  ///
  /// The list for one version of a bundle has all of them. Throws ``ModelReadingError`` also if the
  /// bundle's current version file or its lock is damaged.
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

  /// Keeps the given order; a lock in the folder only adds its entries, or throws if damaged.
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

  private static func ordered(_ files: [String: ModelFile], by lock: VersionLock) -> [Version] {
    let locked = lock.namedVersions.map(\.name)
    let others = files.keys.filter { !locked.contains($0) }.ordered { NaturalOrder.precedes($0, $1) }
    return (locked + others).compactMap { name in
      files[name].map { file in
        Version(name: name, file: file, entry: lock.entry(named: name))
      }
    }
  }

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

  /// All versions of the bundle that contains the file.
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
