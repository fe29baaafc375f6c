import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

/// A history that was read once: its versions, its lock, and what couldn't be read.
struct CheckedHistory {
  struct Version {
    let name: String
    let model: ManagedObjectModel
    /// The path to pass to commands.
    let path: String
    /// The file to edit.
    let file: String
    /// In `file`; `nil` unless that declares several versions.
    var line: Int?
    let entry: VersionLock.Entry?
    /// Beside the model that was read.
    var snapshot: (path: String, model: ManagedObjectModel)?
    /// True if the source's migration plan gives the version's position.
    var isPlanned = false

    var isShipped: Bool { entry != nil }
  }

  /// The parts that couldn't be read, or only in part.
  private(set) var faults: [HistoryFinding] = []
  /// Readable ones, in order.
  private(set) var versions: [Version] = []
  /// Readable versions outside the migration plan: their stores are recognized, but not migrated.
  private(set) var outsiders: [Version] = []
  /// Of all versions in order, unreadable ones too, without those outside the migration plan.
  let names: [String]
  /// Locked versions whose model is missing.
  let missingNames: [String]
  let currentName: String
  /// `nil` if the current version can't be read.
  var history: ModelHistory?

  var lock: (path: String, content: VersionLock)?

  let path: String
  /// `nil` for a folder of snapshots, or if the versions can't be determined.
  let list: ModelVersionList?
  /// The model bundle, model or Swift source; `nil` if there are only snapshots.
  private let source: String?

  /// The path is a folder with a model bundle, snapshots or a lock, a model bundle, or Swift
  /// source.
  ///
  /// With `acceptsUndecided`, source whose versions can't be determined is a fault instead of an
  /// error. Throws `ModelReadingError` if there is no history.
  init(at path: String, swift: SwiftHistory? = nil, console: Console, acceptsUndecided: Bool = false) throws {
    self.path = path
    guard Console.SwiftSource(path) == nil, case .snapshotFolder = try ModelFile(path).kind else {
      source = path
      do throws(ModelReadingError) {
        list = try console.versions(at: path, swift: swift)
      } catch {
        guard acceptsUndecided, case .undecided(_, let advice) = error.problem else { throw error }
        (list, names, missingNames, currentName) = (nil, [], [], "")
        faults = [
          HistoryFinding(
            .undecidedHistory, .error, file: path, "\(error.cause) No version was tried.", remedy: advice)
        ]
        return
      }
      guard let list, try !console.namesOneVersion(path, in: list) else {
        throw ModelReadingError(
          path: path, problem: .malformed(reason: "it is a single model, not a history of several"))
      }
      if let content = list.lock, let path = list.lockPath { lock = (path, content) }
      currentName = list.currentVersionName ?? ""
      names = list.successiveVersions.map(\.name)
      missingNames = list.lock?.missingNames { list.version(named: $0) != nil } ?? []
      for version in list.versions {
        read(version.name, source: version.file, snapshot: nil, entry: version.entry, isPlanned: version.isPlanned)
      }
      outsiders = versions.filter { !names.contains($0.name) }
      versions.removeAll { !names.contains($0.name) }
      try makeHistory(isComplete: true) { () throws(ModelReadingError) in try ModelHistory(list, path: path) }
      return
    }
    let folder = try SnapshotFolder(path)
    list = nil
    source = folder.sources?.versions.first.map { version in
      let bundle = ModelFile.folder(of: version.file.path)
      return bundle == path ? version.file.path : bundle
    }
    lock = folder.lock.map { (folder.lockPath, $0) }
    let locked = (folder.lock?.namedVersions ?? []).map(\.name)
    let known = Set(folder.snapshots.keys).union(folder.sources?.versions.map(\.name) ?? [])
    let others = known.subtracting(locked).sorted { NaturalOrder.precedes($0, $1) }
    names = locked.filter(known.contains) + others
    currentName = folder.sources?.currentVersionName ?? names.last ?? ""
    missingNames = folder.missingNames
    for name in names {
      read(
        name, source: folder.sources?.version(named: name)?.file, snapshot: folder.snapshots[name],
        entry: folder.lock?.entry(named: name))
    }
    try makeHistory(isComplete: missingNames.isEmpty) { () throws(ModelReadingError) in try console.history(at: path) }
  }

  private mutating func read(
    _ name: String, source: ModelFile?, snapshot: ModelFile?, entry: VersionLock.Entry?, isPlanned: Bool = false
  ) {
    let sourceModel = source.flatMap { model(of: $0, named: name) }
    let snapshotModel = snapshot.flatMap { model(of: $0, named: name) }
    guard let model = sourceModel ?? snapshotModel, let file = (sourceModel == nil ? snapshot : source) else { return }
    var version = Version(
      name: name, model: model, path: file.path, file: file.editedPath, line: file.editedLine, entry: entry,
      isPlanned: isPlanned)
    if sourceModel != nil, let snapshot, let snapshotModel { version.snapshot = (snapshot.path, snapshotModel) }
    versions.append(version)
  }

  private mutating func model(of file: ModelFile, named name: String) -> ManagedObjectModel? {
    do throws(ModelReadingError) {
      let read = try file.read()
      for warning in read.warnings {
        // A compiled model has no lines and can't be edited.
        guard let line = warning.line else { continue }
        faults.append(
          HistoryFinding(
            .notRead, warning.isFault ? .error : .warning, version: name, file: file.editedPath, line: line,
            "\"\(file.editedPath)\": \(warning)",
            remedy: warning.isOneSidedInverse
              ? "Name the inverse at both, or at neither." : "Correct it, or take it out."))
      }
      return read.model
    } catch {
      if case .inMemory(let held) = file.kind, case .doubtful = held.reading,
        case .undecided(_, let advice) = error.problem
      {
        faults.append(
          HistoryFinding(
            .uncertainVersion, .warning, version: name, file: held.file, line: held.line,
            "\(error.cause) No store is compared with it.", remedy: advice))
        return nil
      }
      faults.append(
        HistoryFinding(
          .unreadableVersion, .error, version: name, file: file.editedPath, line: error.line ?? file.editedLine,
          "The version \"\(name)\": \(error)"))
      return nil
    }
  }

  private mutating func makeHistory(
    isComplete: Bool, reading: () throws(ModelReadingError) -> ModelHistory
  ) throws {
    guard let current = versions.first(where: { $0.name == currentName }) else { return }
    // The assistant must know of versions that the lock doesn't list. Otherwise the models read
    // already are reused.
    let arePlaced = versions.allSatisfy(\.isShipped)
    if !arePlaced, isComplete, faults.allSatisfy({ $0.rule != .unreadableVersion }) {
      history = try reading()
      return
    }
    let position = versions.firstIndex { $0.name == currentName } ?? 0
    history = ModelHistory(
      current: current.model, name: current.name, earlier: versions[..<position].map { ($0.name, $0.model) },
      later: versions[(position + 1)...].map { ($0.name, $0.model) }
    ).locked(by: lock?.content)
  }

  // MARK: - Versions

  var namesBelowFloor: [String] { lock?.content.versionsBelowFloor.map(\.name) ?? [] }

  /// From the floor to the current one, or to the last one if none is current.
  var migratedVersions: ArraySlice<Version> {
    let end = versions.firstIndex { $0.name == currentName } ?? versions.count - 1
    let left = namesBeforeDoubt.union(namesBelowFloor)
    return versions.prefix(end + 1).drop { left.contains($0.name) }
  }

  /// Those before the last ambiguous one; losses on a path across it can't be determined.
  var namesBeforeDoubt: Set<String> {
    let doubtful = Set(faults.filter { $0.rule == .uncertainVersion }.compactMap(\.version))
    let names = list?.successiveVersions.map(\.name) ?? []
    return Set(names.lastIndex(where: doubtful.contains).map { names[..<$0] } ?? [])
  }

  var acknowledgements: [VersionLock.Acknowledgement] {
    let below = Set(namesBelowFloor)
    return lock?.content.namedAcknowledgements.filter { !below.contains($0.source) } ?? []
  }

  /// As the lock, the source or `names`, the values of `--by-app`, say.
  func versionsByCode(_ names: [String]) throws(UsageError) -> Set<String> {
    let earlier = versions.prefix { $0.name != currentName }.map(\.name)
    for name in names where !earlier.contains(name) {
      throw .invalidValue(
        option: "--by-app", value: name,
        expected: earlier.isEmpty
          ? "nothing: no version comes before the current one"
          : "one of the versions before the current one, \(listText(earlier))")
    }
    let steps = (lock?.content.namedStepsByCode ?? []) + (list?.stepsByCode ?? [])
    return Set(names).union(steps.filter(isStep).map(\.source))
  }

  func isStep(_ step: VersionLock.Step) -> Bool {
    zip(versions, versions.dropFirst()).contains { $0.name == step.source && $1.name == step.destination }
  }

  /// `version` is a path, or `nil` for the current version; `follower` is the locked version that
  /// comes next, or `nil` to add it last.
  func fixing(_ version: String? = nil, before follower: String? = nil) -> String {
    let isBeside = source == path && Console.SwiftSource(path) == nil
    let own = isBeside ? ModelFile.folder(of: path) : path
    let folder = lock.map { ModelFile.folder(of: $0.path) } ?? own
    let model = version ?? source ?? versions.first { $0.name == currentName }?.path ?? path
    return "heirloom snapshot \(shellWord(model)) --history \(shellWord(folder))"
      + (follower.map { " --before \(shellWord($0))" } ?? "")
  }

  /// The current version may be unfinished, so an earlier one is locked if there is one.
  var lockAdvice: String {
    guard let last = versions.prefix(while: { $0.name != currentName }).last else {
      return "When the current version ships, \(fixing()) writes one"
    }
    return "If \"\(last.name)\" was shipped, \(fixing(last.path)) writes one"
  }
}

extension ModelFile {
  var editedPath: String {
    if case .inMemory(let held) = kind { return held.file }
    return kind == .source && !path.hasSuffix("/contents") ? path + "/contents" : path
  }

  var editedLine: Int? {
    if case .inMemory(let held) = kind { held.line } else { nil }
  }
}
