/// The file `lock.json`, which fixes name, order and checksum of each shipped version.
package struct VersionLock: Hashable, Sendable {
  /// A shipped version.
  package struct Entry: Hashable, Sendable {
    /// The version's name.
    package var name: String
    /// The checksum of its hashes.
    package var checksum: String

    /// Creates an entry.
    package init(name: String, checksum: String) {
      self.name = name
      self.checksum = checksum
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
      versions.append(Entry(name: name, checksum: checksum))
    }
    guard versions.count == list.count else { return nil }
  }
}
