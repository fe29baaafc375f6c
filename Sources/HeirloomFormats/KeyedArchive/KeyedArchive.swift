/// Objects are read one by one; callers that follow references must limit steps with ``Budget``.
package final class KeyedArchive: Sendable {
  private static let nullMarker = "$null"

  /// The target of a reference.
  package enum Node: Sendable {
    case null
    case scalar(PropertyListValue)
    case object(ArchivedObject)
  }

  /// The value of an object's key.
  package enum Member: Sendable {
    case reference(Int)
    case scalar(PropertyListValue)
    case references([Int])
  }

  package let rootReference: Int
  package var count: Int { table.count }

  private let plist: BinaryPropertyListReader
  /// Positions in the property list, by reference.
  private let table: ArraySlice<Int>
  /// A small number for each string that serves as a key.
  private let keyNumbers: [String: Int]
  /// By position in the property list; -1 for positions of anything but keys.
  private let keyNumbersByPosition: [Int]

  package init(_ bytes: [UInt8]) throws(FormatError) {
    plist = try BinaryPropertyListReader(bytes)
    var numbers: [String: Int] = [:]
    var byPosition = Array(repeating: -1, count: plist.count)
    for index in 0..<plist.count {
      guard case .dictionary(let keys, _) = try plist.object(at: index) else { continue }
      for key in keys where byPosition[key] < 0 {
        guard case .scalar(.string(let name)) = try plist.object(at: key) else { throw .notKeyedArchive }
        let number = numbers[name] ?? numbers.count
        numbers[name] = number
        byPosition[key] = number
      }
    }
    keyNumbers = numbers
    keyNumbersByPosition = byPosition
    guard case .dictionary(let keys, let values) = try plist.object(at: plist.topIndex) else { throw .notKeyedArchive }
    func position(_ name: String, _ keys: ArraySlice<Int>, _ values: ArraySlice<Int>) -> Int? {
      guard let number = numbers[name], let offset = keys.firstIndex(where: { byPosition[$0] == number }) else {
        return nil
      }
      return values[values.startIndex + offset - keys.startIndex]
    }
    guard let objects = position("$objects", keys, values), case .array(let table) = try plist.object(at: objects),
      let top = position("$top", keys, values),
      case .dictionary(let topKeys, let topValues) = try plist.object(at: top),
      // An archive of one object under a key of the app's choice is valid too.
      let root = position("root", topKeys, topValues) ?? (topValues.count == 1 ? topValues.first : nil),
      case .scalar(.uid(let reference)) = try plist.object(at: root)
    else { throw .notKeyedArchive }
    self.table = table
    rootReference = reference
  }

  package func node(_ reference: Int) throws(FormatError) -> Node {
    guard reference >= 0, reference < table.count else {
      throw FormatError("The archive refers to object \(reference), which doesn't exist.")
    }
    switch try plist.object(at: table[table.startIndex + reference]) {
    case .scalar(.string(Self.nullMarker)), .scalar(.null):
      return .null
    case .scalar(let value):
      return .scalar(value)
    case .array:
      throw .missingClass(object: reference)
    case .dictionary(let keys, let values):
      return .object(ArchivedObject(archive: self, reference: reference, keys: keys, values: values))
    }
  }

  fileprivate func member(
    _ key: String, keys: ArraySlice<Int>, values: ArraySlice<Int>
  ) throws(FormatError) -> Member? {
    guard let number = keyNumbers[key], let offset = keys.firstIndex(where: { keyNumbersByPosition[$0] == number })
    else { return nil }
    switch try plist.object(at: values[values.startIndex + offset - keys.startIndex]) {
    case .scalar(.uid(let reference)):
      return .reference(reference)
    case .scalar(let value):
      return .scalar(value)
    case .array(let elements):
      var references: [Int] = []
      references.reserveCapacity(elements.count)
      for element in elements {
        guard case .scalar(.uid(let reference)) = try plist.object(at: element) else { throw .notKeyedArchive }
        references.append(reference)
      }
      return .references(references)
    case .dictionary:
      throw .notKeyedArchive
    }
  }

  /// The class and its ancestors, the nearest first; at least one.
  package func classNames(ofClass reference: Int) throws(FormatError) -> [String] {
    guard reference >= 0, reference < table.count,
      case .dictionary(let keys, let values) = try plist.object(at: table[table.startIndex + reference])
    else { throw .missingClass(object: reference) }
    func value(_ key: String) -> Int? {
      guard let number = keyNumbers[key], let offset = keys.firstIndex(where: { keyNumbersByPosition[$0] == number })
      else { return nil }
      return values[values.startIndex + offset - keys.startIndex]
    }
    guard let position = value("$classname"), case .scalar(.string(let name)) = try plist.object(at: position) else {
      throw .missingClass(object: reference)
    }
    var names = [name]
    if let list = value("$classes"), case .array(let elements) = try plist.object(at: list) {
      // A chain of classes is short; a longer one is cut.
      for element in elements.prefix(32) {
        guard case .scalar(.string(let ancestor)) = try plist.object(at: element), ancestor != name else { continue }
        names.append(ancestor)
      }
    }
    return names
  }

  fileprivate func keyNames(_ keys: ArraySlice<Int>) throws(FormatError) -> [String] {
    var names: [String] = []
    for key in keys {
      guard case .scalar(.string(let name)) = try plist.object(at: key) else { throw .notKeyedArchive }
      names.append(name)
    }
    return names
  }

  package struct Budget: Sendable {
    private let limit: Int
    private var remaining: Int

    package init(for archive: KeyedArchive) {
      limit = 32 * archive.count + 10_000
      remaining = limit
    }

    package mutating func spend(_ steps: Int = 1) throws(FormatError) {
      remaining -= steps
      guard remaining >= 0 else {
        throw FormatError(
          "Reading the archive takes more than \(limit) steps, which its size doesn't justify.")
      }
    }
  }
}

/// Its members are read on demand.
package struct ArchivedObject: Sendable {
  package let archive: KeyedArchive
  package let reference: Int
  private let keys: ArraySlice<Int>
  private let values: ArraySlice<Int>

  fileprivate init(archive: KeyedArchive, reference: Int, keys: ArraySlice<Int>, values: ArraySlice<Int>) {
    self.archive = archive
    self.reference = reference
    self.keys = keys
    self.values = values
  }

  /// For `KeyedArchive.classNames(ofClass:)`.
  package func classReference() throws(FormatError) -> Int {
    guard case .reference(let type)? = try member("$class") else { throw .missingClass(object: reference) }
    return type
  }

  package func member(_ key: String) throws(FormatError) -> KeyedArchive.Member? {
    try archive.member(key, keys: keys, values: values)
  }

  package func keyNames() throws(FormatError) -> [String] {
    try archive.keyNames(keys).filter { $0 != "$class" }
  }
}
