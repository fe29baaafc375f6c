/// A keyed archive, opened without making any of its objects.
///
/// Objects are read one by one; whoever follows references counts the steps with ``Budget``.
package final class KeyedArchive: Sendable {
  /// The string that stands for no object.
  private static let nullMarker = "$null"

  /// The target of a reference.
  package enum Node: Sendable {
    /// No object.
    case null
    /// A string, a number, or data.
    case scalar(PropertyListValue)
    /// An object of a class.
    case object(ArchivedObject)
  }

  /// The value that an object holds under a key.
  package enum Member: Sendable {
    /// A reference to another object.
    case reference(Int)
    /// A string, a number, a truth value, or data.
    case scalar(PropertyListValue)
    /// A list of references, as collections hold their elements.
    case references([Int])
  }

  /// The reference of the outermost object.
  package let rootReference: Int
  /// The number of objects.
  package var count: Int { table.count }

  private let plist: BinaryPropertyListReader
  /// The position of each object in the property list.
  private let table: ArraySlice<Int>
  /// A small number for each string that is used as a key.
  private let keyNumbers: [String: Int]
  /// The number of the key at a position of the property list; -1 for all else.
  private let keyNumbersByPosition: [Int]

  /// Opens an archive.
  ///
  /// - Parameter bytes: A whole file, in binary form.
  /// - Throws: ``KeyedArchiveError`` if it is not a keyed archive.
  package init(_ bytes: [UInt8]) throws(KeyedArchiveError) {
    do throws(PropertyListError) {
      plist = try BinaryPropertyListReader(bytes)
    } catch {
      throw .propertyList(error)
    }
    var numbers: [String: Int] = [:]
    var byPosition = Array(repeating: -1, count: plist.count)
    for index in 0..<plist.count {
      guard case .dictionary(let keys, _) = try plist.archived(index) else { continue }
      for key in keys where byPosition[key] < 0 {
        guard case .scalar(.string(let name)) = try plist.archived(key) else { throw .notKeyedArchive }
        let number = numbers[name] ?? numbers.count
        numbers[name] = number
        byPosition[key] = number
      }
    }
    keyNumbers = numbers
    keyNumbersByPosition = byPosition
    guard case .dictionary(let keys, let values) = try plist.archived(plist.topIndex) else { throw .notKeyedArchive }
    func position(_ name: String, _ keys: ArraySlice<Int>, _ values: ArraySlice<Int>) -> Int? {
      guard let number = numbers[name], let offset = keys.firstIndex(where: { byPosition[$0] == number }) else {
        return nil
      }
      return values[values.startIndex + offset - keys.startIndex]
    }
    guard let objects = position("$objects", keys, values), case .array(let table) = try plist.archived(objects),
      let top = position("$top", keys, values), case .dictionary(let topKeys, let topValues) = try plist.archived(top),
      // An archive of one object that was encoded under a key of the app's choice counts as well.
      let root = position("root", topKeys, topValues) ?? (topValues.count == 1 ? topValues.first : nil),
      case .scalar(.uid(let reference)) = try plist.archived(root)
    else { throw .notKeyedArchive }
    self.table = table
    rootReference = reference
  }

  /// Returns the target of a reference.
  ///
  /// - Parameter reference: A reference from this archive.
  /// - Returns: The object, or the value that stands for one.
  /// - Throws: ``KeyedArchiveError`` if the reference leads nowhere or to something without a class.
  package func node(_ reference: Int) throws(KeyedArchiveError) -> Node {
    guard reference >= 0, reference < table.count else { throw .invalidReference(reference) }
    switch try plist.archived(table[table.startIndex + reference]) {
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

  /// Returns the value that an object holds under a key, or `nil`.
  fileprivate func member(
    _ key: String, keys: ArraySlice<Int>, values: ArraySlice<Int>
  ) throws(KeyedArchiveError) -> Member? {
    guard let number = keyNumbers[key], let offset = keys.firstIndex(where: { keyNumbersByPosition[$0] == number })
    else { return nil }
    switch try plist.archived(values[values.startIndex + offset - keys.startIndex]) {
    case .scalar(.uid(let reference)):
      return .reference(reference)
    case .scalar(let value):
      return .scalar(value)
    case .array(let elements):
      var references: [Int] = []
      references.reserveCapacity(elements.count)
      for element in elements {
        guard case .scalar(.uid(let reference)) = try plist.archived(element) else { throw .notKeyedArchive }
        references.append(reference)
      }
      return .references(references)
    case .dictionary:
      throw .notKeyedArchive
    }
  }

  /// Returns the names of a class and its ancestors, the nearest first.
  ///
  /// - Parameter reference: The reference that objects hold as their class.
  /// - Returns: At least one name.
  /// - Throws: ``KeyedArchiveError/missingClass(object:)`` if the reference leads to no class.
  package func classNames(ofClass reference: Int) throws(KeyedArchiveError) -> [String] {
    guard reference >= 0, reference < table.count,
      case .dictionary(let keys, let values) = try plist.archived(table[table.startIndex + reference])
    else { throw .missingClass(object: reference) }
    func value(_ key: String) -> Int? {
      guard let number = keyNumbers[key], let offset = keys.firstIndex(where: { keyNumbersByPosition[$0] == number })
      else { return nil }
      return values[values.startIndex + offset - keys.startIndex]
    }
    guard let position = value("$classname"), case .scalar(.string(let name)) = try plist.archived(position) else {
      throw .missingClass(object: reference)
    }
    var names = [name]
    if let list = value("$classes"), case .array(let elements) = try plist.archived(list) {
      // A chain of classes is short; the end of a long one is not read.
      for element in elements.prefix(32) {
        guard case .scalar(.string(let ancestor)) = try plist.archived(element), ancestor != name else { continue }
        names.append(ancestor)
      }
    }
    return names
  }

  /// Returns the names of an object's keys.
  fileprivate func keyNames(_ keys: ArraySlice<Int>) throws(KeyedArchiveError) -> [String] {
    var names: [String] = []
    for key in keys {
      guard case .scalar(.string(let name)) = try plist.archived(key) else { throw .notKeyedArchive }
      names.append(name)
    }
    return names
  }

  /// The steps that may still be taken while references are followed.
  package struct Budget: Sendable {
    private let limit: Int
    private var remaining: Int

    /// Creates a budget that suits the size of an archive.
    package init(for archive: KeyedArchive) {
      limit = 32 * archive.count + 10_000
      remaining = limit
    }

    /// Takes steps.
    ///
    /// - Parameter steps: The number of steps.
    /// - Throws: ``KeyedArchiveError/tooManySteps(limit:)`` when there are none left.
    package mutating func spend(_ steps: Int = 1) throws(KeyedArchiveError) {
      remaining -= steps
      guard remaining >= 0 else { throw .tooManySteps(limit: limit) }
    }
  }
}

/// An object of a keyed archive, whose members have not been read yet.
package struct ArchivedObject: Sendable {
  /// The archive that holds the object.
  package let archive: KeyedArchive
  /// The object's own reference.
  package let reference: Int
  private let keys: ArraySlice<Int>
  private let values: ArraySlice<Int>

  fileprivate init(archive: KeyedArchive, reference: Int, keys: ArraySlice<Int>, values: ArraySlice<Int>) {
    self.archive = archive
    self.reference = reference
    self.keys = keys
    self.values = values
  }

  /// Returns the reference of the object's class.
  ///
  /// - Returns: A reference for ``KeyedArchive/classNames(ofClass:)``.
  /// - Throws: ``KeyedArchiveError/missingClass(object:)`` if there is none.
  package func classReference() throws(KeyedArchiveError) -> Int {
    guard case .reference(let type)? = try member("$class") else { throw .missingClass(object: reference) }
    return type
  }

  /// Returns the value that the object holds under a key, or `nil`.
  ///
  /// - Parameter key: A key.
  /// - Returns: The member as it stands, a reference not followed.
  /// - Throws: ``KeyedArchiveError`` if it is something that archives don't hold.
  package func member(_ key: String) throws(KeyedArchiveError) -> KeyedArchive.Member? {
    try archive.member(key, keys: keys, values: values)
  }

  /// Returns the names of all keys except that of the class.
  ///
  /// - Returns: The names in the order of the archive.
  /// - Throws: ``KeyedArchiveError`` if a key is not a string.
  package func keyNames() throws(KeyedArchiveError) -> [String] {
    try archive.keyNames(keys).filter { $0 != "$class" }
  }
}

extension BinaryPropertyListReader {
  /// Returns an object of the table, and throws errors in the terms of archives.
  fileprivate func archived(_ index: Int) throws(KeyedArchiveError) -> Object {
    do throws(PropertyListError) {
      return try object(at: index)
    } catch {
      throw .propertyList(error)
    }
  }
}
