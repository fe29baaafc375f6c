package import HeirloomModel

/// The file `lock.json`, which fixes name, order, checksum and entities of each shipped version.
package struct VersionLock: Hashable, Sendable {
  /// A shipped version.
  package struct Entry: Hashable, Sendable {
    /// The version's name.
    package var name: String
    /// The checksum of its hashes.
    package var checksum: String
    /// The version hash of each entity, as hexadecimal digits; `nil` in a lock that was written without.
    ///
    /// They tell which entity was edited where the checksum tells only that one was.
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
  }

  /// The shipped versions, the first one first.
  package var versions: [Entry]

  /// Creates a lock.
  package init(versions: [Entry] = []) {
    self.versions = versions
  }

  /// Reads a lock.
  ///
  /// - Parameter path: The path of a `lock.json`.
  /// - Throws: ``ModelReadingError`` if it can't be read or is no lock of format 1.
  package init(path: String) throws(ModelReadingError) {
    let bytes = try FileContents.bytes(path, limit: 4 << 20)
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONReader.value(of: bytes)
    } catch {
      throw ModelReadingError(path: path, problem: .malformed(reason: error.description))
    }
    guard let lock = VersionLock(value) else {
      let reason = "it is no lock of format 1: a list of versions, each with its name and its checksum, was expected"
      throw ModelReadingError(path: path, problem: .malformed(reason: reason))
    }
    self = lock
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
    guard versions.count == list.count else { return nil }
  }

  /// Returns the lock as the file holds it.
  package func encoded() -> [UInt8] {
    var writer = CanonicalJSONWriter(isIndented: true)
    writer.beginObject()
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
        for (entity, hash) in entities.sorted(by: { $0.key.utf16Precedes($1.key) }) {
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
