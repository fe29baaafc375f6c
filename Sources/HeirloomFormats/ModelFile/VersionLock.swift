package import HeirloomModel

/// The file `lock.json`, which fixes name, order, checksum and entities of each shipped version.
package struct VersionLock: Hashable, Sendable {
  /// A shipped version.
  package struct Entry: Hashable, Sendable {
    /// The version's name.
    package var name: String
    /// The checksum of its hashes.
    package var checksum: String
    /// The version hash of each entity, as hexadecimal digits; `nil` in a lock that was written without them.
    ///
    /// They tell which entity was edited, where the checksum tells only that one was.
    package var entities: [String: String]?

    /// Creates an entry.
    package init(name: String, checksum: String, entities: [String: String]? = nil) {
      self.name = name
      self.checksum = checksum
      self.entities = entities
    }

    /// Creates the entry of a model.
    package init(name: String, model: ManagedObjectModel) {
      self.init(
        name: name, checksum: model.versionChecksum(), entities: model.versionHashes().mapValues(\.description))
    }

    /// Returns the entities of a version that were edited since it was shipped, sorted; `nil` if nothing was.
    ///
    /// There are none where the lock has no hashes of entities, so that nothing tells which were.
    package func editedEntities(in hashes: [String: VersionHash]) -> [String]? {
      guard ManagedObjectModel.versionChecksum(of: hashes) != checksum else { return nil }
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
    /// The name of the source version.
    package let source: String
    /// The name of the destination version.
    package let destination: String
    /// The consented losses, sorted: `Entity` for objects, `Entity.property` for values and links.
    package var losses: [String]

    /// Creates an acknowledgement.
    package init(source: String, destination: String, losses: [String]) {
      self.source = source
      self.destination = destination
      self.losses = losses
    }
  }

  /// A step from one version to the next.
  package struct Step: Hashable, Sendable {
    /// The name of the source version.
    package let source: String
    /// The name of the destination version.
    package let destination: String

    /// Creates a step.
    package init(source: String, destination: String) {
      (self.source, self.destination) = (source, destination)
    }

    fileprivate init?(_ members: [String: JSONValue]) {
      guard case .string(let source)? = members["from"], case .string(let destination)? = members["to"] else {
        return nil
      }
      self.init(source: source, destination: destination)
    }
  }

  /// The shipped versions, the first one first.
  package var versions: [Entry]
  /// The name of the oldest version whose stores are still migrated; `nil` where all are.
  package var floor: String?
  /// The consented losses, for each pair of versions that has some, in the order of the first consent.
  package private(set) var acknowledgements: [Acknowledgement] = []
  /// The steps that the app's own code migrates, in the order in which that was said.
  package var stepsByCode: [Step] = []

  /// Creates a lock.
  package init(versions: [Entry] = []) {
    self.versions = versions
  }

  /// The versions before the floor, whose stores are refused.
  package var versionsBelowFloor: ArraySlice<Entry> {
    floor == nil ? [] : versions.prefix { $0.name != floor }
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
  ///   - source: The name of the source version.
  ///   - destination: The name of the destination version.
  package mutating func acknowledge(_ loss: String, from source: String, to destination: String) {
    let position = acknowledgements.firstIndex { $0.source == source && $0.destination == destination }
    guard let position else {
      acknowledgements.append(Acknowledgement(source: source, destination: destination, losses: [loss]))
      return
    }
    let losses = Set(acknowledgements[position].losses + [loss])
    acknowledgements[position].losses = losses.ordered()
  }

  /// The most bytes that a lock has.
  static let byteLimit = 4 << 20

  /// Tells whether bytes are those of a lock, even of a damaged or a later one, rather than of another tool's file.
  static func isLikely(_ bytes: [UInt8]) -> Bool {
    guard let value = try? JSONReader.value(of: bytes) else {
      // Text that is not JSON can still be the rest of a lock.
      let text = String(decoding: bytes, as: UTF8.self)
      return ["\"format\"", "\"versions\"", "\"checksum\""].allSatisfy(text.contains)
    }
    guard case .object(let members) = value, members["format"] != nil, case .array? = members["versions"] else {
      return false
    }
    return true
  }

  /// Reads a lock.
  ///
  /// - Parameter path: The path of a `lock.json`.
  /// - Throws: ``ModelReadingError`` if it can't be read or is not a lock of format 1.
  package init(path: String) throws(ModelReadingError) {
    do throws(ModelReadingError) {
      try self.init(bytes: FileContents.bytes(path, limit: Self.byteLimit))
    } catch {
      throw error.inFile(path)
    }
  }

  /// Reads a lock.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``ModelReadingError`` if it is not a lock of format 1.
  init(bytes: [UInt8]) throws(ModelReadingError) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONReader.value(of: bytes)
    } catch {
      throw ModelReadingError(problem: .malformed(reason: error.description))
    }
    guard let lock = VersionLock(value) else {
      let reason =
        "it is no lock of format 1: a list of versions, each with its name and its checksum, was expected,"
        + " and a floor, if there is one, that is the name of one of them"
      throw ModelReadingError(problem: .malformed(reason: reason))
    }
    self = lock
  }

  /// Returns the names of members that a lock's file has and this release doesn't know, sorted.
  static func unknownMembers(_ bytes: [UInt8]) -> [String] {
    guard case .object(let members)? = try? JSONReader.value(of: bytes) else { return [] }
    var names = Set(members.keys).subtracting(["acknowledged", "byCode", "floor", "format", "versions"])
    if case .array(let list)? = members["versions"] {
      for case .object(let entry) in list {
        names.formUnion(Set(entry.keys).subtracting(["checksum", "entities", "name"]))
      }
    }
    return names.ordered()
  }

  private init?(_ value: JSONValue) {
    guard case .object(let members) = value, members["format"] == .integer(1),
      case .array(let list)? = members["versions"]
    else { return nil }
    versions = []
    var names: Set<String> = []
    for case .object(let entry) in list {
      guard case .string(let name)? = entry["name"], case .string(let checksum)? = entry["checksum"],
        names.insert(name).inserted
      else { return nil }
      var entities: [String: String]?
      if let value = entry["entities"] {
        guard case .object(let hashes) = value else { return nil }
        entities = [:]
        for (entity, hash) in hashes {
          guard case .string(let digits) = hash else { return nil }
          entities?[entity] = digits
        }
      }
      versions.append(Entry(name: name, checksum: checksum, entities: entities))
    }
    guard versions.count == list.count, readAcknowledgements(members["acknowledged"]), readSteps(members["byCode"])
    else { return nil }
    guard let value = members["floor"] else { return }
    // A floor that nobody finds would refuse nothing.
    guard case .string(let floor) = value, names.contains(floor) else { return nil }
    self.floor = floor
  }

  /// Reads the list of consented losses; returns false for anything that is not such a list.
  private mutating func readAcknowledgements(_ value: JSONValue?) -> Bool {
    guard let value else { return true }
    guard case .array(let list) = value else { return false }
    for item in list {
      guard case .object(let members) = item, let step = Step(members), case .array(let names)? = members["losses"]
      else { return false }
      for name in names {
        guard case .string(let loss) = name else { return false }
        acknowledge(loss, from: step.source, to: step.destination)
      }
    }
    return true
  }

  /// Reads the list of steps by code; returns false for anything that is not such a list.
  private mutating func readSteps(_ value: JSONValue?) -> Bool {
    guard let value else { return true }
    guard case .array(let list) = value else { return false }
    for item in list {
      guard case .object(let members) = item, let step = Step(members) else { return false }
      stepsByCode.append(step)
    }
    return true
  }

  /// Returns the lock as the file holds it.
  package func encoded() -> [UInt8] {
    var writer = CanonicalJSONWriter(isIndented: true)
    writer.beginObject()
    if !acknowledgements.isEmpty {
      writer.key("acknowledged")
      writer.beginArray()
      for acknowledgement in acknowledgements {
        writer.beginObject()
        writer.key("from")
        writer.string(acknowledgement.source)
        writer.key("losses")
        writer.beginArray()
        for loss in acknowledgement.losses { writer.string(loss) }
        writer.endArray()
        writer.key("to")
        writer.string(acknowledgement.destination)
        writer.endObject()
      }
      writer.endArray()
    }
    if !stepsByCode.isEmpty {
      writer.key("byCode")
      writer.beginArray()
      for step in stepsByCode {
        writer.beginObject()
        writer.key("from")
        writer.string(step.source)
        writer.key("to")
        writer.string(step.destination)
        writer.endObject()
      }
      writer.endArray()
    }
    if let floor {
      writer.key("floor")
      writer.string(floor)
    }
    writer.key("format")
    writer.integer(1)
    writer.key("versions")
    writer.beginArray()
    for version in versions {
      writer.beginObject()
      writer.key("checksum")
      writer.string(version.checksum)
      if let entities = version.entities {
        writer.key("entities")
        writer.beginObject()
        for (entity, hash) in entities.ordered(by: { $0.key }) {
          writer.key(entity)
          writer.string(hash)
        }
        writer.endObject()
      }
      writer.key("name")
      writer.string(version.name)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes + Array("\n".utf8)
  }
}
