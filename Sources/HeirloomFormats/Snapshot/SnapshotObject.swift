/// The members of a JSON object in a snapshot, removed one by one so that unknown ones remain.
struct SnapshotObject {
  private var members: [String: JSONValue]
  /// Such as `entities[2].attributes[0]`.
  let place: String

  init(_ value: JSONValue, place: String) throws(ModelReadingError) {
    guard case .object(let members) = value else { throw Self.unexpected("an object", place) }
    self.members = members
    self.place = place
  }

  static func unexpected(_ expected: String, _ place: String) -> ModelReadingError {
    ModelReadingError(
      problem: .malformed(reason: "\(place) is not \(expected), as a snapshot of format 1 has it there"))
  }

  func has(_ key: String) -> Bool {
    members[key] != nil
  }

  mutating func take(_ key: String) -> JSONValue? {
    members.removeValue(forKey: key)
  }

  mutating func required(_ key: String) throws(ModelReadingError) -> JSONValue {
    guard let value = take(key) else {
      throw ModelReadingError(problem: .malformed(reason: "\(place) lacks \"\(key)\""))
    }
    return value
  }

  mutating func string(_ key: String) throws(ModelReadingError) -> String? {
    guard let value = take(key) else { return nil }
    guard case .string(let text) = value else { throw Self.unexpected("text", "\(place).\(key)") }
    return text
  }

  mutating func requiredString(_ key: String) throws(ModelReadingError) -> String {
    guard case .string(let text) = try required(key) else { throw Self.unexpected("text", "\(place).\(key)") }
    return text
  }

  mutating func strings(_ key: String) throws(ModelReadingError) -> [String] {
    guard let value = take(key) else { return [] }
    return try Self.strings(value, "\(place).\(key)")
  }

  static func strings(_ value: JSONValue, _ place: String) throws(ModelReadingError) -> [String] {
    guard case .array(let elements) = value else { throw unexpected("a list of texts", place) }
    var result: [String] = []
    for element in elements {
      guard case .string(let text) = element else { throw unexpected("a list of texts", place) }
      result.append(text)
    }
    return result
  }

  mutating func flag(_ key: String) throws(ModelReadingError) -> Bool {
    guard let value = take(key) else { return false }
    guard case .boolean(let flag) = value else { throw Self.unexpected("a truth value", "\(place).\(key)") }
    return flag
  }

  mutating func integer(_ key: String) throws(ModelReadingError) -> Int? {
    guard let value = take(key) else { return nil }
    guard case .integer(let number) = value, let number = Int(exactly: number) else {
      throw Self.unexpected("a whole number", "\(place).\(key)")
    }
    return number
  }

  mutating func dictionary(_ key: String) throws(ModelReadingError) -> [String: String] {
    guard let value = take(key) else { return [:] }
    guard case .object(let members) = value else { throw Self.unexpected("an object of texts", "\(place).\(key)") }
    var result: [String: String] = [:]
    for (name, member) in members {
      guard case .string(let text) = member else { throw Self.unexpected("an object of texts", "\(place).\(key)") }
      result[name] = text
    }
    return result
  }

  mutating func list<Element>(
    _ key: String, _ read: (JSONValue, String) throws(ModelReadingError) -> Element
  ) throws(ModelReadingError) -> [Element] {
    var result: [Element] = []
    for (index, element) in try elements(key).enumerated() { result.append(try read(element, placed(key, index))) }
    return result
  }

  private mutating func elements(_ key: String) throws(ModelReadingError) -> [JSONValue] {
    guard let value = take(key) else { return [] }
    guard case .array(let elements) = value else { throw Self.unexpected("a list", "\(place).\(key)") }
    return elements
  }

  private func placed(_ key: String, _ index: Int) -> String { "\(place).\(key)[\(index)]" }

  /// Throws if members remain, whose content would be lost.
  func finish() throws(ModelReadingError) {
    guard let key = members.keys.min() else { return }
    throw ModelReadingError(
      problem: .malformed(reason: "\(place) has the member \"\(key.prefix(80))\", which is not part of format 1"))
  }
}
