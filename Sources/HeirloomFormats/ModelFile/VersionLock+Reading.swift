import HeirloomMapping
import HeirloomModel

// The lock contains the floor and the consents: a lock that isn't completely understood is rejected, never rewritten.
extension VersionLock {
  static let byteLimit = 4 << 20

  /// True for a JSON object without any member specific to a lock.
  static func areOfAnotherTool(_ bytes: [UInt8]) -> Bool {
    guard case .object(let members)? = try? JSONReader.value(of: bytes) else { return false }
    return areOfAnotherTool(members)
  }

  private static func areOfAnotherTool(_ members: [String: JSONValue]) -> Bool {
    if !Set(members.keys).isDisjoint(with: ["acknowledged", "byCode", "floor", "format"]) { return false }
    guard case .array(let list)? = members["versions"] else { return true }
    return !list.allSatisfy { if case .object = $0 { true } else { false } }
  }

  package init(path: String) throws(ModelReadingError) {
    let bytes: [UInt8]
    do throws(ModelReadingError) {
      bytes = try FileContents.bytes(path, limit: Self.byteLimit)
    } catch {
      throw Self.unreadable(error, at: path)
    }
    do throws(ModelReadingError) {
      try self.init(bytes: bytes)
    } catch {
      throw error.inFile(path)
    }
  }

  static func unreadable(_ error: ModelReadingError, at path: String) -> ModelReadingError {
    let reason =
      switch error.problem {
      case .tooLarge(let count, let limit):
        "it has \(CountText.counted(count, "byte")), and a lock has at most \(CountText.grouped(limit))"
      case .notModel(.folder): "it is a folder, and a file was expected"
      case .notModel: "it is neither a file nor a folder, and a file was expected"
      default: nil as String?
      }
    return reason.map { notLock($0).inFile(path) } ?? error
  }

  package init(bytes: [UInt8]) throws(ModelReadingError) {
    if let reason = Self.reasonAgainstText(bytes) { throw Self.notLock(reason) }
    let value: JSONValue
    do throws(FormatError) {
      value = try JSONReader.value(of: bytes)
    } catch {
      throw Self.notLock(error.description)
    }
    guard case .object(let members) = value else {
      throw Self.notLock("it is not a JSON object with a format and a list of versions")
    }
    if case .integer(let format)? = members["format"], format > 2 {
      throw ModelReadingError(problem: .laterLock(reason: "it has format \(format), and this release reads 1 and 2"))
    }
    if Self.areOfAnotherTool(members) {
      throw Self.notLock("it is another program's: neither a format nor a list of versions is in it")
    }
    if let name = Self.unknownMembers(members).first {
      throw ModelReadingError(
        problem: .laterLock(reason: "it contains \"\(name.prefix(80))\", which this release doesn't support"))
    }
    guard let lock = VersionLock(members) else {
      let format = members["format"] == .integer(2) ? 2 : 1
      throw Self.notLock(
        "it is not a lock of format \(format): a list of versions, each with its"
          + " \(format == 1 ? "name" : "identifier and name")\(format == 1 ? " and its checksum" : ""), was expected,"
          + " and a floor, if there is one, that is one of them"
      )
    }
    self = lock
  }

  private static func notLock(_ reason: String) -> ModelReadingError {
    ModelReadingError(problem: .notLock(reason: reason))
  }

  private static func reasonAgainstText(_ bytes: [UInt8]) -> String? {
    if bytes.isEmpty { return "it is empty" }
    if bytes.allSatisfy({ [0x09, 0x0A, 0x0D, 0x20].contains($0) }) { return "it contains only white space" }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) || bytes.contains(0) {
      return "it is UTF-16 text or binary data, and UTF-8 was expected"
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return "it begins with a byte order mark, which JSON doesn't have" }
    if String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains(where: { $0.hasPrefix("<<<<<<< ") }) {
      return "it has Git merge conflict markers, and one of the two sides was expected, or both in one list"
    }
    return nil
  }

  // MARK: - Members

  private static func unknownMembers(_ members: [String: JSONValue]) -> [String] {
    let isNew = members["format"] == .integer(2)
    var names = Set(members.keys).subtracting(
      ["acknowledged", "byCode", "floor", "format", "versions"] + (isNew ? ["decisions"] : []))
    func add(_ list: JSONValue?, _ known: Set<String>, inner: (key: String, known: Set<String>)? = nil) {
      guard case .array(let list)? = list else { return }
      for case .object(let item) in list {
        names.formUnion(Set(item.keys).subtracting(known))
        if let inner { add(item[inner.key], inner.known) }
      }
    }
    let old: Set = ["checksum", "entities", "name"]
    add(members["versions"], isNew ? old.union(["id", "release", "shape"]) : old)
    add(members["acknowledged"], ["from", "losses", "to"], inner: ("losses", ["kind", "name"]))
    add(members["byCode"], ["from", "to"])
    return names.ordered()
  }

  private init?(_ members: [String: JSONValue]) {
    self.init()
    guard case .integer(let format)? = members["format"], (1...2).contains(format),
      case .array(let list)? = members["versions"]
    else { return nil }
    readFormat = Int(clamping: format)
    for item in list {
      guard let entry = Self.entry(item, format: readFormat), !versions.contains(where: { $0.id == entry.id }) else {
        return nil
      }
      versions.append(entry)
    }
    guard readAcknowledgements(members["acknowledged"]), readSteps(members["byCode"]) else { return nil }
    if let value = members["decisions"] {
      guard case .array(let list) = value else { return nil }
      writtenDecisions = list
    }
    guard let value = members["floor"] else { return }
    // A floor that isn't a version would have no effect.
    guard case .string(let floor) = value, versions.contains(where: { $0.id == floor }) else { return nil }
    self.floor = floor
  }

  private static func entry(_ value: JSONValue, format: Int) -> Entry? {
    guard case .object(let members) = value, case .string(let name)? = members["name"] else { return nil }
    var (id, checksum): (String, String?) = (name, nil)
    if format > 1 {
      guard case .string(let text)? = members["id"] else { return nil }
      id = text
    }
    switch members["checksum"] {
    case .string(let text)?: checksum = text
    case nil where format > 1: break
    default: return nil
    }
    var entities: [String: String]?
    if let value = members["entities"] {
      guard case .object(let hashes) = value else { return nil }
      entities = [:]
      for (entity, hash) in hashes {
        guard case .string(let digits) = hash else { return nil }
        entities?[entity] = digits
      }
    }
    return Entry(
      id: id, name: name, checksum: checksum, entities: entities, release: members["release"], shape: members["shape"])
  }

  static func step(_ members: [String: JSONValue]) -> Step? {
    guard case .string(let source)? = members["from"], case .string(let destination)? = members["to"] else {
      return nil
    }
    return Step(source: source, destination: destination)
  }

  /// False for a malformed list.
  private mutating func readAcknowledgements(_ value: JSONValue?) -> Bool {
    guard let value else { return true }
    guard case .array(let list) = value else { return false }
    for item in list {
      guard case .object(let members) = item, let step = Self.step(members),
        case .array(let losses)? = members["losses"]
      else { return false }
      for loss in losses {
        let name: String
        let kind: LossKind?
        switch loss {
        case .string(let text) where readFormat == 1: (name, kind) = (text, nil)
        case .object(let members) where readFormat > 1:
          guard case .string(let text)? = members["name"] else { return false }
          switch members["kind"] {
          case nil: (name, kind) = (text, nil)
          case .string(let word)?:
            guard let known = LossKind(rawValue: word) else { return false }
            (name, kind) = (text, known)
          default: return false
          }
        default: return false
        }
        acknowledge(name, kind: kind, from: step.source, to: step.destination)
      }
    }
    return true
  }

  /// False for a malformed list.
  private mutating func readSteps(_ value: JSONValue?) -> Bool {
    guard let value else { return true }
    guard case .array(let list) = value else { return false }
    for item in list {
      guard case .object(let members) = item, let step = Self.step(members) else { return false }
      stepsByCode.append(step)
    }
    return true
  }
}
