import Foundation
import Heirloom
import HeirloomCompare
import HeirloomOutput
import HeirloomSwiftSource

/// The check of a history's versions against its lock and its snapshots.
struct HistoryCheck {
  /// A readable version.
  struct Version {
    let name: String
    let model: ManagedObjectModel
    /// The path to pass to commands.
    let path: String
    /// The file to edit.
    let file: String
    /// The version's line in that file, if the file declares several versions.
    var line: Int?
    /// True if the lock lists the version.
    let isShipped: Bool
    /// True if the source's migration plan gives the version's position.
    var isPlanned = false
  }

  private(set) var findings: [CheckFinding] = []
  /// The readable versions in order.
  private(set) var versions: [Version] = []
  /// The readable versions outside the migration plan: their stores are recognized, but not migrated.
  private(set) var outsiders: [Version] = []
  let currentName: String
  /// The history to migrate with; `nil` if the current version can't be read.
  var history: ModelHistory?

  /// The lock with its path; `nil` if there is none.
  var lock: (path: String, content: VersionLock)?

  let path: String
  /// The listed versions with their locations; `nil` for a folder of snapshots alone, or if there is no list.
  private(set) var list: ModelVersionList?
  /// The steps that the source's migration plan assigns to app code.
  private var plannedStepsByCode: [VersionLock.Step] = []
  /// The path of the model bundle, model or Swift source; `nil` if there are only snapshots.
  private let source: String?

  /// Checks the history at `path`; nothing is migrated yet.
  ///
  /// The path is a folder with a model bundle, snapshots or a lock, a model bundle, or Swift source; `swift` is the
  /// source, if it was read before. With `acceptsUndecided`, source whose versions can't be determined is a finding
  /// instead of an error. Throws `ModelReadingError` if there is no history.
  init(at path: String, swift: SwiftHistory? = nil, console: Console, acceptsUndecided: Bool = false) throws {
    self.path = path
    let isSwiftSource = Console.SwiftSource(path) != nil
    guard !isSwiftSource, case .snapshotFolder = try ModelFile(path).kind else {
      source = path
      let list: ModelVersionList
      do throws(ModelReadingError) {
        list = try console.versions(at: path, swift: swift)
      } catch {
        guard acceptsUndecided, case .undecided(_, let advice) = error.problem else { throw error }
        currentName = ""
        add(.error, .undecidedHistory, file: path, "\(error.cause) No version was tried. \(advice)")
        return
      }
      guard try !console.namesOneVersion(path, in: list) else {
        throw ModelReadingError(
          path: path, problem: .malformed(reason: "it is a single model, not a history of several"))
      }
      self.list = list
      plannedStepsByCode = list.stepsByCode
      if let content = list.lock, let path = list.lockPath { lock = (path, content) }
      currentName = list.currentVersionName ?? ""
      for version in list.versions {
        read(version.name, source: version.file, snapshot: nil, entry: version.entry, isPlanned: version.isPlanned)
      }
      let successive = Set(list.successiveVersions.map(\.name))
      outsiders = versions.filter { !successive.contains($0.name) }
      versions.removeAll { !successive.contains($0.name) }
      if list.lock == nil { for warning in list.warnings { add(.warning, .missingLock, file: path, warning) } }
      checkMissing(list.lock?.missingNames { list.version(named: $0) != nil } ?? [])
      checkOrder(names: list.successiveVersions.map(\.name))
      checkRenames()
      try makeHistory(isComplete: true) { () throws(ModelReadingError) in try ModelHistory(list, path: path) }
      return
    }
    let folder = try SnapshotFolder(path)
    source = folder.sources?.versions.first.map { version in
      let bundle = ModelFile.folder(of: version.file.path)
      return bundle == path ? version.file.path : bundle
    }
    lock = folder.lock.map { (folder.lockPath, $0) }
    let locked = (folder.lock?.namedVersions ?? []).map(\.name)
    let known = Set(folder.snapshots.keys).union(folder.sources?.versions.map(\.name) ?? [])
    let others = known.subtracting(locked).sorted { NaturalOrder.precedes($0, $1) }
    let names = locked.filter(known.contains) + others
    currentName = folder.sources?.currentVersionName ?? names.last ?? ""
    checkMissing(folder.missingNames)
    for name in names {
      read(
        name, source: folder.sources?.version(named: name)?.file, snapshot: folder.snapshots[name],
        entry: folder.lock?.entry(named: name))
    }
    checkOrder(names: names)
    checkRenames()
    try makeHistory(isComplete: folder.missingNames.isEmpty) { () throws(ModelReadingError) in
      try console.history(at: path)
    }
  }

  var namesBelowFloor: [String] { lock?.content.versionsBelowFloor.map(\.name) ?? [] }

  /// The versions from the floor to the current one, or to the last one if none is current.
  var migratedVersions: ArraySlice<Version> {
    let end = versions.firstIndex { $0.name == currentName } ?? versions.count - 1
    let left = namesBeforeDoubt.union(namesBelowFloor)
    return versions.prefix(end + 1).drop { left.contains($0.name) }
  }

  /// The versions before the last ambiguous one; losses on a path across it can't be determined.
  var namesBeforeDoubt: Set<String> {
    let doubtful = Set(findings.filter { $0.kind == .uncertainVersion }.compactMap(\.version))
    let names = list?.successiveVersions.map(\.name) ?? []
    return Set(names.lastIndex(where: doubtful.contains).map { names[..<$0] } ?? [])
  }

  /// The lock's consents to losses, from the floor on.
  var acknowledgements: [VersionLock.Acknowledgement] {
    let below = Set(namesBelowFloor)
    return lock?.content.namedAcknowledgements.filter { !below.contains($0.source) } ?? []
  }

  /// Returns the versions whose step to the next one is migrated by app code, as the lock, the source or `names`, the
  /// values of `--by-app`, say.
  ///
  /// Throws `UsageError` for a name that no version before the current one has.
  func versionsByCode(_ names: [String]) throws(UsageError) -> Set<String> {
    let earlier = versions.prefix { $0.name != currentName }.map(\.name)
    for name in names where !earlier.contains(name) {
      throw .invalidValue(
        option: "--by-app", value: name,
        expected: earlier.isEmpty
          ? "nothing: no version comes before the current one"
          : "one of the versions before the current one, \(listText(earlier))")
    }
    let steps = (lock?.content.namedStepsByCode ?? []) + plannedStepsByCode
    return Set(names).union(steps.filter(isStep).map(\.source))
  }

  private func isStep(_ step: VersionLock.Step) -> Bool {
    zip(versions, versions.dropFirst()).contains { $0.name == step.source && $1.name == step.destination }
  }

  /// Returns the command that adds a version to the lock.
  ///
  /// `version` is a path, or `nil` for the current version; `follower` is the locked version before which it belongs,
  /// or `nil` to add it last.
  private func fixing(_ version: String? = nil, before follower: String? = nil) -> String {
    let isBeside = source == path && Console.SwiftSource(path) == nil
    let own = isBeside ? ModelFile.folder(of: path) : path
    let folder = lock.map { ModelFile.folder(of: $0.path) } ?? own
    let model = version ?? source ?? versions.first { $0.name == currentName }?.path ?? path
    return "heirloom snapshot \(shellWord(model)) --history \(shellWord(folder))"
      + (follower.map { " --before \(shellWord($0))" } ?? "")
  }

  /// Advice on how to create the lock.
  ///
  /// The current version may be unfinished, so an earlier one is locked if there is one.
  var lockAdvice: String {
    guard let last = versions.prefix(while: { $0.name != currentName }).last else {
      return "When the current version ships, \(fixing()) writes one"
    }
    return "If \"\(last.name)\" was shipped, \(fixing(last.path)) writes one"
  }

  mutating func add(
    _ severity: StoreFinding.Severity, _ kind: CheckFinding.Kind, version: String? = nil, entity: String? = nil,
    property: String? = nil, file: String?, line: Int? = nil, _ message: String
  ) {
    findings.append(
      CheckFinding(
        severity: severity, kind: kind, version: version, entity: entity, property: property, file: file, line: line,
        message: message))
  }

  private mutating func makeHistory(
    isComplete: Bool, reading: () throws(ModelReadingError) -> ModelHistory
  ) throws {
    guard let current = versions.first(where: { $0.name == currentName }) else { return }
    // The assistant must know of versions that the lock doesn't list. Otherwise the models read already are reused.
    let arePlaced = versions.allSatisfy(\.isShipped)
    if !arePlaced, isComplete, findings.allSatisfy({ $0.kind != .unreadableVersion }) {
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

  private mutating func read(
    _ name: String, source: ModelFile?, snapshot: ModelFile?, entry: VersionLock.Entry?, isPlanned: Bool = false
  ) {
    let sourceModel = source.flatMap { model(of: $0, named: name) }
    let snapshotModel = snapshot.flatMap { model(of: $0, named: name) }
    guard let model = sourceModel ?? snapshotModel, let file = (sourceModel == nil ? snapshot : source) else { return }
    versions.append(
      Version(
        name: name, model: model, path: file.path, file: file.editedPath, line: file.editedLine,
        isShipped: entry != nil, isPlanned: isPlanned))
    if let entry, let edited = entry.editedEntities(in: model.versionHashes()) {
      let shipped =
        sourceModel == nil ? nil : snapshotModel.flatMap { $0.versionChecksum() == entry.checksum ? $0 : nil }
      tellEdits(of: model, edited, since: shipped, entry, file: file.editedPath)
    } else if let sourceModel, let snapshotModel, let snapshot, sourceModel != snapshotModel {
      tellSnapshot(
        snapshotModel, at: snapshot.path, differsFrom: sourceModel, in: source?.path ?? file.path, name,
        isShipped: entry != nil)
    }
  }

  private mutating func model(of file: ModelFile, named name: String) -> ManagedObjectModel? {
    do throws(ModelReadingError) {
      let read = try file.read()
      for warning in read.warnings {
        // A compiled model has no lines and can't be edited.
        guard let line = warning.line else { continue }
        add(
          warning.isFault ? .error : .warning, .notRead, version: name, file: file.editedPath, line: line,
          "\"\(file.editedPath)\": \(warning) "
            + (warning.isOneSidedInverse ? "Name the inverse at both, or at neither." : "Correct it, or take it out."))
      }
      return read.model
    } catch {
      if case .inMemory(let held) = file.kind, case .doubtful = held.reading,
        case .undecided(_, let advice) = error.problem
      {
        add(
          .warning, .uncertainVersion, version: name, file: held.file, line: held.line,
          "\(error.cause) No store is compared with it. \(advice)")
        return nil
      }
      add(
        .error, .unreadableVersion, version: name, file: file.editedPath, line: error.line ?? file.editedLine,
        "The version \"\(name)\": \(error)")
      return nil
    }
  }

  /// Adds findings about edits to a shipped version, as precisely as its snapshot and the lock allow.
  private mutating func tellEdits(
    of model: ManagedObjectModel, _ edited: [String], since shipped: ManagedObjectModel?, _ entry: VersionLock.Entry,
    file: String
  ) {
    let (rule, advice) = (entry.rule, VersionLock.Entry.advice)
    if let shipped {
      let changes = ModelDifference(from: shipped, to: model).changes.filter(\.isHashed)
      for change in changes {
        add(
          .error, .editedVersion, version: entry.name, entity: change.entity, property: change.property, file: file,
          "\(rule): \(change.subject): \(change.sentence). \(advice)")
      }
      if !changes.isEmpty { return }
    }
    let hashes = model.versionHashes()
    for entity in edited {
      let words =
        switch (entry.entities?[entity], hashes[entity]) {
        case (nil, _): "was added"
        case (_, nil): "was removed"
        case (let locked?, let found?):
          "was edited: its version hash is \(found.description.prefix(12))…, and lock.json has \(locked.prefix(12))…"
        }
      add(
        .error, .editedVersion, version: entry.name, entity: entity, file: file,
        "\(rule): the entity \"\(entity)\" \(words). \(advice)")
    }
    guard edited.isEmpty else { return }
    add(
      .error, .editedVersion, version: entry.name, file: file,
      "\(rule): its checksum is \(model.versionChecksum()), and lock.json has \(entry.checksum ?? "none"). The edit can't be determined:"
        + " there is no snapshot of the shipped version, and the lock, of an earlier release, has no hashes of its entities."
        + " \(advice)")
  }

  private mutating func tellSnapshot(
    _ snapshot: ManagedObjectModel, at path: String, differsFrom source: ManagedObjectModel, in file: String,
    _ name: String, isShipped: Bool
  ) {
    let changes = ModelDifference(from: snapshot, to: source).changes
    let hashed = changes.filter(\.isHashed)
    let words = listText((hashed.isEmpty ? changes : hashed).map { "\($0.subject): \($0.sentence)" }, limit: 4)
    let first = hashed.first ?? changes.first
    if snapshot.versionHashes() != source.versionHashes() {
      add(
        isShipped ? .error : .warning, .editedSnapshot, version: name, entity: first?.entity, property: first?.property,
        file: path,
        isShipped
          ? "The snapshot of \"\(name)\" is not of the version that was shipped (\(words)). Move it away;"
            + " heirloom snapshot \(shellWord(file)) --output \(shellWord(path)) writes it again."
          : "The snapshot of \"\(name)\", which was not shipped yet, is older than the model (\(words)). Write it again when it ships."
      )
    } else {
      add(
        .warning, .editedDetails, version: name, entity: first?.entity, property: first?.property, file: path,
        "The model and the snapshot of \"\(name)\" are the same to stores, but differ in what stores don't keep (\(words))."
      )
    }
  }

  /// Adds findings about names swapped without a migration, and about renaming identifiers that match nothing.
  private mutating func checkRenames() {
    // All earlier versions count, keyed by the entity's identifier, because one between may lack the entity or
    // property.
    var known: [String: Set<String>] = [:]
    for (one, other) in zip(versions, versions.dropFirst()) {
      known.merge(one.model.identifiers) { $0.union($1) }
      let isMigrated = one.model.versionHashes() != other.model.versionHashes()
      let lost = other.model.identifiersOfNothing(among: known).filter { item in
        // An acknowledged loss means that the new identifier is deliberate: the property starts empty.
        !acknowledgements.contains { $0.source == one.name && $0.losses.contains { $0.name == item.name } }
      }
      guard !isMigrated || !lost.isEmpty else { continue }
      let diagnostics = ModelDifference(from: one.model, to: other.model).diagnostics
      for found in diagnostics where found.kind == .renameWithoutMigration {
        add(
          .warning, .renameWithoutMigration, version: other.name, entity: found.entity, property: found.property,
          file: other.file, "From \"\(one.name)\" to \"\(other.name)\": \(found.description)")
      }
      for item in lost {
        let better = diagnostics.first { $0.entity == item.entity && $0.property == item.property }
        add(
          .warning, .renamingIdentifier, version: other.name, entity: item.entity, property: item.property,
          file: other.file,
          "\"\(one.name)\" → \"\(other.name)\": "
            + (better?.description
              ?? item.words(in: "the versions before")))
      }
    }
  }

  // MARK: - Order

  /// Adds findings about locked versions whose model is missing.
  private mutating func checkMissing(_ names: [String]) {
    for name in names {
      add(
        .error, .missingVersion, version: name, file: lock?.path,
        "The version \"\(name)\" was shipped, according to lock.json, but its model is missing: its stores can't be migrated. Restore the model."
      )
    }
  }

  private mutating func checkOrder(names: [String]) {
    guard let (lockPath, lock) = lock else {
      add(
        .warning, .missingLock, file: path,
        versions.allSatisfy(\.isPlanned)
          ? "There is no lock.json: the shipped versions aren't known, and edits of them aren't detected. \(lockAdvice)."
          : "There is no lock.json: the shipped versions and their order are derived from names. \(lockAdvice).")
      return
    }
    let locked = lock.namedVersions.map(\.name)
    func precedes(_ name: String, _ other: String) -> Bool {
      list?.precedes(name, other) ?? NaturalOrder.precedes(name, other)
    }
    for name in names where !locked.contains(name) {
      if name == currentName {
        add(
          .warning, .unlockedVersion, version: name, file: lockPath,
          "The current version \"\(name)\" is not in lock.json yet. Before it ships, \(fixing()) adds it."
        )
      } else {
        let isEarlier = precedes(name, currentName)
        let place = versions.first { $0.name == name }?.path
        let follower = locked.first { precedes(name, $0) }
        add(
          isEarlier ? .error : .warning, .unlockedVersion, version: name, file: lockPath,
          "The version \"\(name)\" is not in lock.json, so it is unknown whether and when it was shipped."
            + (isEarlier
              ? " If it was, \(fixing(place, before: follower)) fixes it in its place; if it never was, remove it."
              : ""))
      }
    }
    for step in lock.namedStepsByCode where !isStep(step) {
      add(
        .warning, .staleAcknowledgement, version: step.source, file: lockPath,
        "\"\(step.source)\" → \"\(step.destination)\": lock.json assigns it to the app's code, but it isn't a step from one version to"
          + " the next. Remove it from the lock.")
    }
    if let floor = lock.floorName {
      add(
        .note, .belowFloor, version: floor, file: lockPath,
        "Stores of \(listText(namesBelowFloor.map { "\"\($0)\"" })) are refused, as lock.json says: \"\(floor)\" is the oldest version"
          + " whose stores are still migrated.")
    }
    guard let position = locked.firstIndex(of: currentName) else { return }
    for name in locked[(position + 1)...] {
      add(
        .error, .laterVersion, version: name, file: lockPath,
        "\"\(name)\" was shipped after \"\(currentName)\", as lock.json says, but \"\(currentName)\" is the current version: stores"
          + " of \"\(name)\" would be newer than the app.")
    }
  }
}

extension ModelFile {
  /// The file to edit.
  var editedPath: String {
    if case .inMemory(let held) = kind { return held.file }
    return kind == .source && !path.hasSuffix("/contents") ? path + "/contents" : path
  }

  /// The version's line in that file, if the file declares several versions.
  var editedLine: Int? {
    if case .inMemory(let held) = kind { held.line } else { nil }
  }
}

extension ManagedObjectModel {
  /// The renaming identifiers of properties, keyed by the entity's renaming identifier.
  var identifiers: [String: Set<String>] {
    var result: [String: Set<String>] = [:]
    for entity in entities {
      result[entity.renamingIdentifier ?? entity.name] = Set(
        attributes(of: entity.name).map { $0.renamingIdentifier ?? $0.name }
          + relationships(of: entity.name).map { $0.renamingIdentifier ?? $0.name })
    }
    return result
  }

  /// Returns the renaming identifiers that no earlier version has, each with the most similar known one.
  func identifiersOfNothing(among known: [String: Set<String>]) -> [IdentifierOfNothing] {
    var found: [IdentifierOfNothing] = []
    for entity in entities {
      func check(_ identifier: String?, _ property: String?, among names: Set<String>) {
        guard let identifier, !names.contains(identifier) else { return }
        found.append(
          IdentifierOfNothing(
            entity: entity.name, property: property, identifier: identifier,
            nearest: NameSuggestion.nearest(to: identifier, among: names.sorted())))
      }
      check(entity.renamingIdentifier, nil, among: Set(known.keys))
      // A subentity may have had the property before its superentity existed.
      let properties = entityTree(from: entity.name).reduce(into: Set<String>()) {
        $0.formUnion(known[$1.renamingIdentifier ?? $1.name] ?? [])
      }
      for attribute in entity.attributes { check(attribute.renamingIdentifier, attribute.name, among: properties) }
      for relationship in entity.relationships {
        check(relationship.renamingIdentifier, relationship.name, among: properties)
      }
    }
    return found
  }
}

struct IdentifierOfNothing {
  let entity: String
  let property: String?
  let identifier: String
  let nearest: String?

  /// The name of the entity or property, written as the lock writes losses.
  var name: String { property.map { "\(entity).\($0)" } ?? entity }

  func words(in versions: String) -> String {
    "\"\(name)\" has the renaming identifier \"\(identifier)\", which names nothing in \(versions)"
      + "\(NameSuggestion.question(nearest)) It is new, and begins empty."
  }
}
