import Foundation
import Heirloom
import HeirloomOutput

/// A history to which versions are added, as snapshots and in its lock.
struct SnapshotHistory {
  private let folder: String
  private let source: String
  private let console: Console
  private let list: ModelVersionList?
  /// The version being edited, which comes after all shipped ones, whatever its name.
  private let editedName: String?
  private var lock: VersionLock
  private let lockPath: String
  /// No snapshots are written: the folder has several bundles, whose version names may clash, or
  /// Swift source.
  private let isShared: Bool
  private let files = POSIXFileOperations()

  /// The history may not exist yet; `source` is the model to add, or a store.
  init(at folder: String, for source: String, console: Console) throws {
    (self.folder, self.source, self.console) = (folder, source, console)
    if case .database = PathKind(source) { list = nil } else { list = try console.versions(at: source) }
    // For one version of a bundle, the list has that version as current.
    let bundle = source.hasSuffix(".xcdatamodel") ? try? ModelVersionList(ModelFile.folder(of: source)) : list
    editedName = bundle?.currentVersionName
    let names: [String]
    if case .missing = PathKind(folder) {
      names = []
    } else {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    }
    let bundles = names.filter { $0.hasSuffix(".xcdatamodeld") }.sorted()
    // Swift source contains its versions itself, so only the lock is beside it.
    isShared = bundles.count > 1 || Console.SwiftSource(source)?.lies(in: folder) == true
    let ownLock = list.map { "\($0.name).lock.json" }
    if bundles.count > 1 {
      guard let list, let ownLock, bundles.contains("\(list.name).xcdatamodeld") else {
        throw CommandFailure(
          exitCode: .failed, code: "severalHistories", coreDataCode: nil,
          message:
            "\(folder) holds several models (\(listText(bundles))), and \(source) is of none of them; nothing was written.",
          suggestion: "Name a folder of its own with --history.")
      }
      lockPath = folder + "/" + ownLock
    } else if let ownLock, names.contains(ownLock) {
      lockPath = folder + "/" + ownLock
    } else {
      lockPath = SnapshotFolder.lockPath(in: folder)
    }
    if case .missing = PathKind(lockPath) { lock = VersionLock() } else { lock = try VersionLock(path: lockPath) }
  }

  /// `place` is the locked version before which the current one alone is inserted; `nil` for the
  /// end.
  ///
  /// Fails, without writing, for a shipped version that was edited and for one that would get a
  /// wrong position.
  mutating func add(before place: String?, date: Date) throws -> CommandReport {
    let current = try NamedModel(at: source, console: console)
    for warning in current.warnings { console.log("note: \(warning)") }
    let fresh = try unlockedVersions(before: current)
    let known = lock.entry(named: current.name)
    if let known, known.editedEntities(in: current.model.versionHashes()) != nil { throw edited(current.name) }
    for version in list?.versions ?? [] where version.name != current.name {
      // A version that can't be read isn't an edit; the check reports it.
      guard let entry = lock.entry(named: version.name), let model = try? version.file.read().model,
        entry.editedEntities(in: model.versionHashes()) != nil
      else { continue }
      throw edited(version.name)
    }
    var fixed: [NamedModel] = []
    if let place {
      guard let index = lock.versions.lastIndex(where: { $0.name == place }) else {
        throw UsageError.invalidValue(
          option: "--before", value: place,
          expected: "one of the versions that \(lockPath) fixes (\(listText(lock.versions.map(\.name))))")
      }
      guard known == nil else { throw placed(current.name) }
      lock.versions.insert(VersionLock.Entry(name: current.name, model: current.model), at: index)
      fixed = [current]
    } else if known != nil {
      guard fresh.isEmpty else { throw late(fresh, since: current.name) }
    } else {
      fixed = fresh + [current]
      lock.versions += fixed.map { VersionLock.Entry(name: $0.name, model: $0.model) }
    }
    for version in fixed {
      let read = try list?.version(named: version.name)?.file.read()
      if let fault = read?.warnings.first(where: \.isFault) { throw unread(version.name, fault) }
    }
    return try write(fixed, current: current, date: date)
  }

  private func write(_ fixed: [NamedModel], current: NamedModel, date: Date) throws -> CommandReport {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var lines: [String] = []
    var path: String?
    for version in isShared ? [] : fixed.filter({ $0.name != current.name }) + [current] {
      let file = folder + "/" + SnapshotExport.fileName(version.name)
      let isNew = try SnapshotExport.write(ModelSnapshot(model: version.model, archivedAt: date), to: file)
      lines.append("\(file) \(isNew ? "was written" : "holds the model already and was left as it is").")
      path = file
    }
    let file = SnapshotFile(path: lockPath, files: files)
    if try file.read() != lock.encoded() { try file.write(lock.encoded()) }
    let names = fixed.map(\.name)
    lines.append("fixed now: \(names.isEmpty ? "nothing, it was before" : listText(names.map { "\"\($0)\"" })).")
    lines += names.compactMap(misplacement)
    lines.append("\(lockPath) fixes \(listText(lock.versions.map { "\"\($0.name)\"" })), in this order.")
    return CommandReport(
      lines: lines,
      members: [
        ("path", .optional(path)), ("versionChecksum", .text(current.model.versionChecksum())),
        ("lock", .text(lockPath)),
        ("fixed", .texts(names)), ("versions", .texts(lock.versions.map(\.name))),
      ])
  }

  /// Lock entries without the entities' hashes are completed.
  private mutating func unlockedVersions(before current: NamedModel) throws -> [NamedModel] {
    var fresh: [NamedModel] = []
    for version in list?.successiveVersions ?? [] where version.name != current.name {
      if let index = lock.versions.lastIndex(where: { $0.name == version.name }) {
        guard lock.versions[index].entities == nil, let model = try? version.file.read().model else { continue }
        let entry = VersionLock.Entry(name: version.name, model: model)
        if lock.versions[index].checksum == entry.checksum { lock.versions[index].entities = entry.entities }
      } else if version.name != editedName, precedes(version.name, current.name) {
        fresh.append(NamedModel(name: version.name, model: try version.file.read().model))
      }
    }
    return fresh.sorted { precedes($0.name, $1.name) }
  }

  private func precedes(_ name: String, _ other: String) -> Bool {
    list?.precedes(name, other) ?? NaturalOrder.precedes(name, other)
  }

  /// The locked version that should follow the name; `nil` if all such versions do.
  private func follower(of name: String) -> String? {
    let position = lock.versions.lastIndex { $0.name == name } ?? lock.versions.count
    return lock.versions[..<position].first { precedes(name, $0.name) }?.name
  }

  private func misplacement(_ name: String) -> String? {
    follower(of: name).map {
      "note: \"\(name)\" stands after \"\($0)\", which was fixed first. If it was shipped earlier, take its entry out of"
        + " \(lockPath), then: \(placing(name, before: $0))"
    }
  }

  private func placing(_ name: String, before follower: String) -> String {
    let file = list?.version(named: name)?.file.path ?? source
    return "heirloom snapshot \(shellWord(file)) --history \(shellWord(folder)) --before \(shellWord(follower))"
  }

  // MARK: - Refusals

  private func edited(_ name: String) -> CommandFailure {
    CommandFailure(
      exitCode: .failed, code: "editedVersion",
      message: "The version \"\(name)\" was shipped, as \(lockPath) says, and was edited since; nothing was written.",
      suggestion:
        "Take the change back, and make it in a new version. heirloom check \(shellWord(folder)) names the change.")
  }

  private func unread(_ name: String, _ fault: ModelReadingWarning) -> CommandFailure {
    CommandFailure(
      exitCode: .failed, code: "notRead",
      message: "The version \"\(name)\" can't be fixed as it is: \(fault) Nothing was written.",
      suggestion: "Correct it, or take it out. heirloom check \(shellWord(source)) names all that was not read.")
  }

  private func placed(_ name: String) -> CommandFailure {
    CommandFailure(
      exitCode: .failed, code: "lockedVersion", coreDataCode: nil,
      message: "The version \"\(name)\" has its place in \(lockPath) already; nothing was written.",
      suggestion: "Without --before it stays where it is. To move it, take its entry out of that file first.")
  }

  private func late(_ versions: [NamedModel], since current: String) -> CommandFailure {
    let first = versions[0].name
    let others =
      versions.count == 1 ? "" : " The same holds for \(listText(versions.dropFirst().map { "\"\($0.name)\"" }))."
    return CommandFailure(
      exitCode: .failed, code: "unlockedVersion", coreDataCode: nil,
      message:
        "The version \"\(first)\" comes before \"\(current)\" by its name and is not in \(lockPath), where \"\(current)\" is fixed"
        + " already: it would be placed after it. Nothing was written.",
      suggestion:
        "If it was shipped, put it in its place: \(placing(first, before: follower(of: first) ?? current)). If it never was,"
        + " remove it from the model.\(others)")
  }
}
