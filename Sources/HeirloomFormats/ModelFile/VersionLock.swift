package import HeirloomMapping
package import HeirloomModel

/// The file `lock.json`, which fixes name, order, checksum and entities of each shipped version.
package struct VersionLock: Hashable, Sendable {
  /// A shipped version.
  package struct Entry: Hashable, Sendable {
    /// The identifier by which the lock's other lists refer to the version; in format 1 it is the name.
    package let id: String
    /// The version's name, which several entries of a lock of format 2 may have.
    package var name: String
    /// The checksum of its hashes; `nil` if it isn't known, in a lock of format 2.
    package var checksum: String?
    /// The version hash of each entity, as hexadecimal digits; `nil` in a lock that was written without them.
    ///
    /// They tell which entity was edited, where the checksum tells only that one was.
    package var entities: [String: String]?
    /// The release that shipped the version, and its shape, as a lock of format 2 has them: this release keeps them.
    package let release, shape: JSONValue?

    /// Creates an entry.
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

    /// True if format 1 has no room for the entry.
    fileprivate var needsIdentifier: Bool { id != name || checksum == nil || release != nil || shape != nil }

    /// Creates the entry of a model.
    package init(name: String, model: ManagedObjectModel) {
      self.init(
        name: name, checksum: model.versionChecksum(), entities: model.versionHashes().mapValues(\.description))
    }

    /// Returns the entities of a version that were edited since it was shipped, sorted; `nil` if nothing was.
    ///
    /// There are none where the lock has no hashes of entities, so that nothing tells which were.
    package func editedEntities(in hashes: [String: VersionHash]) -> [String]? {
      guard let checksum, ManagedObjectModel.versionChecksum(of: hashes) != checksum else { return nil }
      let names = entities.map { Set($0.keys).union(hashes.keys) } ?? []
      return names.filter { entities?[$0] != hashes[$0]?.description }.ordered()
    }

    /// The rule that an edit breaks, as the beginning of a sentence.
    package var rule: String { "\"\(name)\" was shipped and must not change, since stores were made with it" }

    /// The advice about an edit.
    package static let advice = "Take the change back, and make it in a new version."

    /// Returns a sentence about the entities that were edited, with advice.
    package func sentence(onEdited entities: [String]) -> String {
      let names = entities.prefix(5).map { "\"\($0.prefix(80))\"" }.joined(separator: ", ")
      let more = entities.count > 5 ? " and \(entities.count - 5) more" : ""
      let words =
        entities.isEmpty ? "its checksum is another than in lock.json" : "edited were the entities \(names)\(more)"
      return "\(rule): \(words). \(Self.advice)"
    }
  }

  /// Losses between two versions, to which somebody consented when the destination was made.
  package struct Acknowledgement: Hashable, Sendable {
    /// The identifier of the source version.
    package let source: String
    /// The identifier of the destination version.
    package let destination: String
    /// The consented losses, sorted.
    package var losses: [Loss]

    /// A consented loss.
    package struct Loss: Hashable, Sendable {
      /// `Entity` for objects, `Entity.property` for the rest.
      package let name: String
      /// The kind; `nil` for those that the two models imply.
      package let kind: LossKind?

      /// Creates a consented loss.
      package init(name: String, kind: LossKind?) {
        (self.name, self.kind) = (name, kind)
      }

      /// Returns true if the entry names a loss, or the composite attribute that it is in.
      package func covers(_ loss: String) -> Bool {
        name == loss || name.contains(".") && loss.hasPrefix(name + ".")
      }
    }
  }

  /// A step from one version to the next.
  package struct Step: Hashable, Sendable {
    /// The identifier of the source version.
    package let source: String
    /// The identifier of the destination version.
    package let destination: String

    /// Creates a step.
    package init(source: String, destination: String) {
      (self.source, self.destination) = (source, destination)
    }
  }

  /// The shipped versions, the first one first.
  package var versions: [Entry]
  /// The identifier of the oldest version whose stores are still migrated; `nil` where all are.
  package var floor: String?
  /// The consented losses, for each pair of versions that has some, in the order of the first consent.
  package var acknowledgements: [Acknowledgement] = []
  /// The steps that the app's own code migrates, in the order in which that was said.
  package var stepsByCode: [Step] = []
  /// The decisions about rows as the file has them: those that this release doesn't know are kept.
  package var writtenDecisions: [JSONValue] = []
  /// The format of the file that was read.
  var readFormat = 1

  /// The format of the file: 1 while the lock uses nothing that only format 2 has.
  package var format: Int {
    let isNew =
      !writtenDecisions.isEmpty || versions.contains(where: \.needsIdentifier)
      || acknowledgements.contains { $0.losses.contains { $0.kind != nil } }
    return isNew ? 2 : readFormat
  }

  /// Creates a lock.
  package init(versions: [Entry] = []) {
    self.versions = versions
  }

  /// The versions before the floor, whose stores are refused.
  package var versionsBelowFloor: ArraySlice<Entry> {
    floor == nil ? [] : versions.prefix { $0.id != floor }
  }

  /// Returns the names of versions that nobody has; before the floor none is needed.
  ///
  /// - Parameter isThere: Returns true for the name of a version whose model is there.
  /// - Returns: The names in the lock's order.
  package func missingNames(where isThere: (String) -> Bool) -> [String] {
    versions[versionsBelowFloor.endIndex...].map(\.name).filter { !isThere($0) }
  }

  /// Notes consent to a loss between two versions.
  ///
  /// - Parameters:
  ///   - loss: The name of the loss: `Entity` or `Entity.property`.
  ///   - kind: The kind; `nil` if it is what the two models imply.
  ///   - source: The identifier of the source version.
  ///   - destination: The identifier of the destination version.
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

  /// Takes losses out, with the steps that have none left.
  package mutating func unacknowledge(where isMeant: (Step, Acknowledgement.Loss) -> Bool) {
    for position in acknowledgements.indices {
      let step = Step(source: acknowledgements[position].source, destination: acknowledgements[position].destination)
      acknowledgements[position].losses.removeAll { isMeant(step, $0) }
    }
    acknowledgements.removeAll(where: \.losses.isEmpty)
  }
}

// Files and commands know versions by name, which is the identifier unless a lock says otherwise.
extension VersionLock {
  /// The entries by which versions are known: of several with one name, the last.
  package var namedVersions: [Entry] {
    let last = Dictionary(versions.map { ($0.name, $0.id) }, uniquingKeysWith: { $1 })
    return versions.filter { last[$0.name] == $0.id }
  }

  /// Returns the entry of a version.
  package func entry(named name: String) -> Entry? { versions.last { $0.name == name } }

  /// Returns the identifier by which the lock refers to a version.
  package func identifier(of name: String) -> String { entry(named: name)?.id ?? name }

  /// Returns the name of the version of an identifier; a later version of the name has it alone.
  func name(of identifier: String) -> String {
    guard let entry = versions.first(where: { $0.id == identifier }) else { return identifier }
    return self.entry(named: entry.name)?.id == identifier ? entry.name : "\(entry.name) (\(identifier))"
  }

  /// The name of the oldest version whose stores are still migrated.
  package var floorName: String? { floor.map(name) }

  /// The consented losses, with the versions' names.
  package var namedAcknowledgements: [Acknowledgement] {
    acknowledgements.map {
      Acknowledgement(source: name(of: $0.source), destination: name(of: $0.destination), losses: $0.losses)
    }
  }

  /// The steps that the app's own code migrates, with the versions' names.
  package var namedStepsByCode: [Step] {
    stepsByCode.map { Step(source: name(of: $0.source), destination: name(of: $0.destination)) }
  }

  /// Returns a step between two versions, with their identifiers.
  package func step(from source: String, to destination: String) -> Step {
    Step(source: identifier(of: source), destination: identifier(of: destination))
  }
}
