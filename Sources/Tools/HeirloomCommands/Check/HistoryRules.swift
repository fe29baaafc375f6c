import Heirloom
import HeirloomCompare
import HeirloomOutput
import HeirloomSwiftSource

/// Compares a history's versions, lock and snapshots with each other; nothing is migrated.
struct HistoryRules {
  private(set) var findings: [HistoryFinding] = []
  private let history: CheckedHistory

  init(_ history: CheckedHistory) {
    self.history = history
    guard !history.faults.contains(where: { $0.rule == .undecidedHistory }) else { return }
    for version in history.versions + history.outsiders { checkEdits(of: version) }
    if let list = history.list, history.lock == nil {
      findings += list.warnings.map { HistoryFinding(.missingLock, .warning, file: history.path, $0) }
    }
    findings += history.missingNames.map { name in
      HistoryFinding(
        .missingVersion, .error, version: name, file: history.lock?.path,
        "The version \"\(name)\" was shipped, according to lock.json, but its model is missing: its stores can't be"
          + " migrated.",
        remedy: "Restore the model.")
    }
    if let lock = history.lock {
      checkOrder(lock.content, at: lock.path)
    } else {
      findings.append(
        HistoryFinding(
          .missingLock, .warning, file: history.path,
          history.versions.allSatisfy(\.isPlanned)
            ? "There is no lock.json: the shipped versions aren't known, and edits of them aren't detected."
            : "There is no lock.json: the shipped versions and their order are derived from names.",
          remedy: "\(history.lockAdvice)."))
    }
    checkRenames()
  }

  // MARK: - Edits

  private mutating func checkEdits(of version: CheckedHistory.Version) {
    if let entry = version.entry, let edited = entry.editedEntities(in: version.model.versionHashes()) {
      findEdits(of: version, edited, entry)
    } else if let snapshot = version.snapshot, snapshot.model != version.model {
      compare(snapshot.model, at: snapshot.path, with: version)
    }
  }

  private mutating func findEdits(
    of version: CheckedHistory.Version, _ edited: [String], _ entry: VersionLock.Entry
  ) {
    func add(_ entity: String?, _ property: String?, _ words: String) {
      findings.append(
        HistoryFinding(
          .editedAfterRelease, .error, version: entry.name, entity: entity, property: property, file: version.file,
          "\(entry.rule): \(words)", remedy: VersionLock.Entry.advice))
    }
    if let snapshot = version.snapshot?.model, snapshot.versionChecksum() == entry.checksum {
      let changes = ModelDifference(from: snapshot, to: version.model).changes.filter(\.isHashed)
      for change in changes { add(change.entity, change.property, "\(change.subject): \(change.sentence).") }
      if !changes.isEmpty { return }
    }
    let hashes = version.model.versionHashes()
    for entity in edited {
      let words =
        switch (entry.entities?[entity], hashes[entity]) {
        case (nil, _): "was added"
        case (_, nil): "was removed"
        case (let locked?, let found?):
          "was edited: its version hash is \(found.description.prefix(12))…, and lock.json has \(locked.prefix(12))…"
        }
      add(entity, nil, "the entity \"\(entity)\" \(words).")
    }
    guard edited.isEmpty else { return }
    add(
      nil, nil,
      "its checksum is \(version.model.versionChecksum()), and lock.json has \(entry.checksum ?? "none"). The edit"
        + " can't be determined: there is no snapshot of the shipped version, and the lock, of an earlier release, has"
        + " no hashes of its entities.")
  }

  private mutating func compare(
    _ snapshot: ManagedObjectModel, at path: String, with version: CheckedHistory.Version
  ) {
    let name = version.name
    let changes = ModelDifference(from: snapshot, to: version.model).changes
    let hashed = changes.filter(\.isHashed)
    let words = listText((hashed.isEmpty ? changes : hashed).map { "\($0.subject): \($0.sentence)" }, limit: 4)
    let first = hashed.first ?? changes.first
    func add(
      _ rule: HistoryRule, _ severity: HistoryFinding.Severity, _ problem: String, remedy: String? = nil
    ) {
      findings.append(
        HistoryFinding(
          rule, severity, version: name, entity: first?.entity, property: first?.property, file: path, problem,
          remedy: remedy))
    }
    if snapshot.versionHashes() == version.model.versionHashes() {
      add(
        .editedDetails, .warning,
        "The model and the snapshot of \"\(name)\" are the same to stores, but differ in what stores don't keep"
          + " (\(words)).")
    } else if version.isShipped {
      add(
        .editedSnapshot, .error, "The snapshot of \"\(name)\" is not of the version that was shipped (\(words)).",
        remedy:
          "Move it away; heirloom snapshot \(shellWord(version.path)) --output \(shellWord(path)) writes it again.")
    } else {
      add(
        .editedSnapshot, .warning,
        "The snapshot of \"\(name)\", which was not shipped yet, is older than the model (\(words)).",
        remedy: "Write it again when it ships.")
    }
  }

  // MARK: - Names

  /// Names that are swapped without a migration, and renaming identifiers that match nothing.
  private mutating func checkRenames() {
    // All earlier versions count, keyed by the entity's identifier, because one between may lack
    // the entity or property.
    var known: [String: Set<String>] = [:]
    for (one, other) in zip(history.versions, history.versions.dropFirst()) {
      known.merge(one.model.identifiers) { $0.union($1) }
      let isMigrated = one.model.versionHashes() != other.model.versionHashes()
      let lost = other.model.identifiersOfNothing(among: known).filter { item in
        // An acknowledged loss means that the new identifier is deliberate: the property starts
        // empty.
        !history.acknowledgements.contains {
          $0.source == one.name && $0.losses.contains { $0.name == item.name }
        }
      }
      guard !isMigrated || !lost.isEmpty else { continue }
      let diagnostics = ModelDifference(from: one.model, to: other.model).diagnostics
      for found in diagnostics where found.kind == .renameWithoutMigration {
        findings.append(
          HistoryFinding(
            .renameWithoutMigration, .warning, version: other.name, entity: found.entity, property: found.property,
            file: other.file, "From \"\(one.name)\" to \"\(other.name)\": \(found.description)"))
      }
      for item in lost {
        let better = diagnostics.first { $0.entity == item.entity && $0.property == item.property }
        findings.append(
          HistoryFinding(
            .renamingIdentifier, .warning, version: other.name, entity: item.entity, property: item.property,
            file: other.file,
            "\"\(one.name)\" → \"\(other.name)\": \(better?.description ?? item.words(in: "the versions before"))"))
      }
    }
  }

  // MARK: - Order

  private mutating func checkOrder(_ lock: VersionLock, at path: String) {
    let currentName = history.currentName
    let locked = lock.namedVersions.map(\.name)
    func add(
      _ rule: HistoryRule, _ severity: HistoryFinding.Severity, _ version: String, _ problem: String,
      remedy: String? = nil
    ) {
      findings.append(HistoryFinding(rule, severity, version: version, file: path, problem, remedy: remedy))
    }
    func precedes(_ name: String, _ other: String) -> Bool {
      history.list?.precedes(name, other) ?? NaturalOrder.precedes(name, other)
    }
    for name in history.names where !locked.contains(name) {
      if name == currentName {
        add(
          .unlockedVersion, .warning, name, "The current version \"\(name)\" is not in lock.json yet.",
          remedy: "Before it ships, \(history.fixing()) adds it.")
      } else {
        let isEarlier = precedes(name, currentName)
        let place = history.versions.first { $0.name == name }?.path
        let follower = locked.first { precedes(name, $0) }
        add(
          .unlockedVersion, isEarlier ? .error : .warning, name,
          "The version \"\(name)\" is not in lock.json, so it is unknown whether and when it was shipped.",
          remedy: isEarlier
            ? "If it was, \(history.fixing(place, before: follower)) fixes it in its place; if it never was, remove it."
            : nil)
      }
    }
    for step in lock.namedStepsByCode where !history.isStep(step) {
      add(
        .staleAcknowledgement, .warning, step.source,
        "\"\(step.source)\" → \"\(step.destination)\": lock.json assigns it to the app's code, but it isn't a step from"
          + " one version to the next.",
        remedy: "Remove it from the lock.")
    }
    if let floor = lock.floorName {
      add(
        .belowFloor, .note, floor,
        "Stores of \(listText(history.namesBelowFloor.map { "\"\($0)\"" })) are refused, as lock.json says: "
          + "\"\(floor)\" is the oldest version whose stores are still migrated.")
    }
    guard let position = locked.firstIndex(of: currentName) else { return }
    for name in locked[(position + 1)...] {
      add(
        .laterVersion, .error, name,
        "\"\(name)\" was shipped after \"\(currentName)\", as lock.json says, but \"\(currentName)\" is the current"
          + " version: stores of \"\(name)\" would be newer than the app.")
    }
  }
}

extension ManagedObjectModel {
  var identifiers: [String: Set<String>] {
    var result: [String: Set<String>] = [:]
    for entity in entities {
      result[entity.renamingIdentifier ?? entity.name] = Set(
        attributes(of: entity.name).map { $0.renamingIdentifier ?? $0.name }
          + relationships(of: entity.name).map { $0.renamingIdentifier ?? $0.name })
    }
    return result
  }

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

  /// Written as the lock writes losses.
  var name: String { property.map { "\(entity).\($0)" } ?? entity }

  func words(in versions: String) -> String {
    "\"\(name)\" has the renaming identifier \"\(identifier)\", which names nothing in \(versions)"
      + "\(NameSuggestion.question(nearest)) It is new, and begins empty."
  }
}
