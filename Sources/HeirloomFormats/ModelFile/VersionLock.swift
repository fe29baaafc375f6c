package import HeirloomMapping
package import HeirloomModel

/// The file `lock.json`, which records the name, order, checksum and entities of each shipped version.
package struct VersionLock: Hashable, Sendable {
  /// A shipped version.
  package struct Entry: Hashable, Sendable {
    /// The identifier that the lock's other lists use for the version; in format 1 it is the name.
    package let id: String
    /// In format 2, it may not be unique.
    package var name: String
    /// `nil` in format 2 if it isn't known.
    package var checksum: String?
    /// Version hashes in hexadecimal, by entity; `nil` in a lock that was written without them.
    ///
    /// They identify the edited entity, whereas the checksum only detects an edit.
    package var entities: [String: String]?
    /// From a lock of format 2; this release only preserves them.
    package let release, shape: JSONValue?

    package init(
      id: String? = nil, name: String, checksum: String?, entities: [String: String]? = nil, release: JSONValue? = nil,
      shape: JSONValue? = nil
    ) {
      self.id = id ?? name
      self.name = name
      self.checksum = checksum
      self.entities = entities
      self.release = release
      self.shape = shape
    }

    /// True if format 1 can't represent the entry.
    fileprivate var needsIdentifier: Bool { id != name || checksum == nil || release != nil || shape != nil }

    package init(name: String, model: ManagedObjectModel) {
      self.init(
        name: name, checksum: model.versionChecksum(), entities: model.versionHashes().mapValues(\.description))
    }

    /// Sorted; `nil` without an edit, and empty for an edit if the lock has no entity hashes.
    package func editedEntities(in hashes: [String: VersionHash]) -> [String]? {
      let isEdited =
        checksum.map { $0 != ManagedObjectModel.versionChecksum(of: hashes) }
        ?? entities.map { $0 != hashes.mapValues(\.description) } ?? false
      guard isEdited else { return nil }
      let names = entities.map { Set($0.keys).union(hashes.keys) } ?? []
      return names.filter { entities?[$0] != hashes[$0]?.description }.ordered()
    }

    /// The beginning of a sentence.
    package var rule: String { "\"\(name)\" was shipped and must not change, since stores were made with it" }

    package static let advice = "Undo the change, and make it in a new version."

    package func sentence(onEdited entities: [String]) -> String {
      let names = entities.prefix(5).map { "\"\($0.prefix(80))\"" }.joined(separator: ", ")
      let more = entities.count > 5 ? " and \(entities.count - 5) more" : ""
      let words =
        entities.isEmpty ? "its checksum is another than in lock.json" : "edited were the entities \(names)\(more)"
      return "\(rule): \(words). \(Self.advice)"
    }
  }

  /// The consented losses between two versions, which are given by identifier or by name.
  package struct Acknowledgement: Hashable, Sendable {
    package let source: String
    package let destination: String
    package var losses: [Loss]

    package struct Loss: Hashable, Sendable {
      /// `Entity` for objects, `Entity.property` for other losses.
      package let name: String
      /// `nil` for losses that the two models imply.
      package let kind: LossKind?

      package init(name: String, kind: LossKind?) {
        (self.name, self.kind) = (name, kind)
      }

      /// Consent to a composite attribute covers its elements.
      package func covers(_ loss: String) -> Bool {
        name == loss || name.contains(".") && loss.hasPrefix(name + ".")
      }
    }
  }

  /// A hop between two versions, which are given by identifier or by name.
  package struct Step: Hashable, Sendable {
    package let source: String
    package let destination: String

    package init(source: String, destination: String) {
      (self.source, self.destination) = (source, destination)
    }
  }

  /// The oldest first.
  package var versions: [Entry]
  /// The identifier of the oldest version whose stores are still migrated; `nil` for all.
  package var floor: String?
  /// In the order of the first consent.
  package var acknowledgements: [Acknowledgement] = []
  /// Hops that the app's own code migrates, in recorded order.
  package var stepsByCode: [Step] = []
  /// As in the file; unknown ones are preserved.
  package var writtenDecisions: [JSONValue] = []
  package var readFormat = 1

  /// The format that was read, or 2 if the content needs it.
  package var format: Int {
    let isNew =
      !writtenDecisions.isEmpty || versions.contains(where: \.needsIdentifier)
      || acknowledgements.contains { $0.losses.contains { $0.kind != nil } }
    return isNew ? 2 : readFormat
  }

  package init(versions: [Entry] = []) {
    self.versions = versions
  }

  /// Their stores are rejected.
  package var versionsBelowFloor: ArraySlice<Entry> {
    floor == nil ? [] : versions.prefix { $0.id != floor }
  }

  /// Only from the floor on.
  package func missingNames(where isThere: (String) -> Bool) -> [String] {
    versions[versionsBelowFloor.endIndex...].map(\.name).filter { !isThere($0) }
  }

  /// The versions are given by identifier; the kind is `nil` for a loss that the two models imply.
  package mutating func acknowledge(
    _ loss: String, kind: LossKind? = nil, from source: String, to destination: String
  ) {
    let loss = Acknowledgement.Loss(name: loss, kind: kind)
    let position = acknowledgements.firstIndex { $0.source == source && $0.destination == destination }
    guard let position else {
      acknowledgements.append(Acknowledgement(source: source, destination: destination, losses: [loss]))
      return
    }
    let losses = Set(acknowledgements[position].losses + [loss])
    acknowledgements[position].losses = losses.ordered { [$0.name, $0.kind?.rawValue ?? ""] }
  }

  package mutating func unacknowledge(where isMeant: (Step, Acknowledgement.Loss) -> Bool) {
    for position in acknowledgements.indices {
      let step = Step(source: acknowledgements[position].source, destination: acknowledgements[position].destination)
      acknowledgements[position].losses.removeAll { isMeant(step, $0) }
    }
    acknowledgements.removeAll(where: \.losses.isEmpty)
  }
}

// Files and commands refer to versions by name, which is the identifier unless the lock has another.
extension VersionLock {
  /// The last entry of each name.
  package var namedVersions: [Entry] {
    let last = Dictionary(versions.map { ($0.name, $0.id) }, uniquingKeysWith: { $1 })
    return versions.filter { last[$0.name] == $0.id }
  }

  package func entry(named name: String) -> Entry? { versions.last { $0.name == name } }

  package func identifier(of name: String) -> String { entry(named: name)?.id ?? name }

  /// Only the last version of a name has the name alone.
  func name(of identifier: String) -> String {
    guard let entry = versions.first(where: { $0.id == identifier }) else { return identifier }
    return self.entry(named: entry.name)?.id == identifier ? entry.name : "\(entry.name) (\(identifier))"
  }

  package var floorName: String? { floor.map(name) }

  package var namedAcknowledgements: [Acknowledgement] {
    acknowledgements.map {
      Acknowledgement(source: name(of: $0.source), destination: name(of: $0.destination), losses: $0.losses)
    }
  }

  package var namedStepsByCode: [Step] {
    stepsByCode.map { Step(source: name(of: $0.source), destination: name(of: $0.destination)) }
  }

  package func step(from source: String, to destination: String) -> Step {
    Step(source: identifier(of: source), destination: identifier(of: destination))
  }
}
