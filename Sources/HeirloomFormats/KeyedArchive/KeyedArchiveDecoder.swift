/// Every access consumes steps of a budget, so that a hostile archive can't keep a reader busy.
package struct KeyedArchiveDecoder {
  package let archive: KeyedArchive
  private var budget: KeyedArchive.Budget
  private var classNames: [Int: [String]] = [:]

  /// The text in an empty slot of a dictionary of known keys.
  static let emptySlot = "__empty_slot_token_4c24_98dc_ac1e_b773__"

  package init(_ archive: KeyedArchive) {
    self.archive = archive
    budget = KeyedArchive.Budget(for: archive)
  }

  package mutating func root() throws(FormatError) -> ArchivedObject {
    guard let object = try object(archive.rootReference) else { throw .notKeyedArchive }
    return object
  }

  package mutating func node(_ reference: Int) throws(FormatError) -> KeyedArchive.Node {
    try budget.spend()
    return try archive.node(reference)
  }

  package mutating func object(_ reference: Int) throws(FormatError) -> ArchivedObject? {
    guard case .object(let object) = try node(reference) else { return nil }
    return object
  }

  /// `KeyedArchive.Node.null` for a missing key, and for a list of references.
  package mutating func node(_ key: String, of object: ArchivedObject) throws(FormatError) -> KeyedArchive.Node {
    switch try object.member(key) {
    case .reference(let reference): return try node(reference)
    case .scalar(let value): return .scalar(value)
    case .references, nil: return .null
    }
  }

  package mutating func object(_ key: String, of object: ArchivedObject) throws(FormatError) -> ArchivedObject? {
    guard case .object(let value) = try node(key, of: object) else { return nil }
    return value
  }

  package mutating func string(_ key: String, of object: ArchivedObject) throws(FormatError) -> String? {
    try string(try node(key, of: object))
  }

  package mutating func string(_ reference: Int) throws(FormatError) -> String? {
    try string(try node(reference))
  }

  package mutating func string(_ node: KeyedArchive.Node) throws(FormatError) -> String? {
    switch node {
    case .scalar(.string(let text)): return text
    case .object(let object):
      // NSMutableString has its text in a member.
      guard case .scalar(.string(let text)) = try self.node("NS.string", of: object) else { return nil }
      return text
    default: return nil
    }
  }

  package mutating func integer(_ key: String, of object: ArchivedObject) throws(FormatError) -> Int? {
    switch try node(key, of: object) {
    case .scalar(.integer(let number)): Int(exactly: number)
    case .scalar(.boolean(let value)): value ? 1 : 0
    default: nil
    }
  }

  package mutating func boolean(_ key: String, of object: ArchivedObject) throws(FormatError) -> Bool {
    (try integer(key, of: object) ?? 0) != 0
  }

  /// The class and its ancestors, the nearest first; at least one.
  package mutating func classNames(of object: ArchivedObject) throws(FormatError) -> [String] {
    let type = try object.classReference()
    if let names = classNames[type] { return names }
    try budget.spend()
    let names = try archive.classNames(ofClass: type)
    classNames[type] = names
    return names
  }

  package mutating func elements(_ key: String, of object: ArchivedObject) throws(FormatError) -> [Int] {
    switch try object.member(key) {
    case .reference(let reference):
      guard let collection = try self.object(reference) else { return [] }
      return try elements(of: collection)
    case .references(let references):
      try budget.spend(references.count)
      return references
    case .scalar, nil:
      return []
    }
  }

  package mutating func elements(of collection: ArchivedObject) throws(FormatError) -> [Int] {
    guard case .references(let references)? = try collection.member("NS.objects") else { return [] }
    try budget.spend(references.count)
    return references
  }

  package mutating func entries(
    of dictionary: ArchivedObject
  ) throws(FormatError) -> [(key: String, value: Int)]? {
    let keys: [Int]
    let values: [Int]
    if case .references(let list)? = try dictionary.member("NS.keys") {
      try budget.spend(list.count)
      keys = list
      values = try elements(of: dictionary)
    } else if let mapping = try object("searchMapping", of: dictionary) {
      // NSKnownKeysDictionary1: the keys are in a strategy that dictionaries share.
      keys = try elements("keys", of: mapping)
      values = try elements("values", of: dictionary)
    } else {
      return nil
    }
    guard keys.count == values.count else { throw .notKeyedArchive }
    var entries: [(key: String, value: Int)] = []
    for (key, value) in zip(keys, values) {
      guard let name = try string(key) else { throw .notKeyedArchive }
      if case .scalar(.string(Self.emptySlot)) = try node(value) { continue }
      entries.append((name, value))
    }
    return entries
  }

  package mutating func entries(
    _ key: String, of object: ArchivedObject
  ) throws(FormatError) -> [(key: String, value: Int)] {
    guard let dictionary = try self.object(key, of: object) else { return [] }
    return try entries(of: dictionary) ?? []
  }
}
