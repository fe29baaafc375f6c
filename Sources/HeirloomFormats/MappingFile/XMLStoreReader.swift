import Foundation

/// A reader of Core Data's XML stores (`NSXMLStoreType`), which Xcode keeps mapping models in.
struct XMLStoreReader {
  /// An object of the store.
  struct Object {
    /// The entity's name in capitals.
    let entity: String
    /// The object's identifier.
    let id: String
    /// The line of its start tag.
    let line: Int
    /// Values as text, by the attribute's name in small letters; an attribute without a value has no entry.
    var values: [String: String] = [:]
    /// Identifiers of other objects, by the relationship's name in small letters.
    var links: [String: [String]] = [:]
  }

  /// The objects in the order of the document.
  private(set) var objects: [Object] = []
  /// The warnings about what was not understood.
  private(set) var warnings: [ModelReadingWarning] = []
  private var positions: [String: Int] = [:]

  /// Reads a document's outermost element.
  ///
  /// - Parameter root: The element `database`.
  /// - Throws: ``MappingReadingError``.
  init(_ root: MarkupElement) throws(MappingReadingError) {
    for element in root.children {
      switch element.name {
      case "databaseInfo": continue
      case "object": try add(element)
      default: warnings.append(ModelReadingWarning(.unknownElement(element.name), place: "line \(element.line)"))
      }
    }
  }

  /// The object of an identifier; `nil` if there is none.
  subscript(_ id: String) -> Object? {
    positions[id].map { objects[$0] }
  }

  private mutating func add(_ element: MarkupElement) throws(MappingReadingError) {
    guard let entity = element["type"], let id = element["id"] else {
      throw Self.malformed("the object in line \(element.line) has no type or no identifier")
    }
    guard positions[id] == nil else { throw Self.malformed("there are two objects \"\(id.prefix(40))\"") }
    var object = Object(entity: entity, id: id, line: element.line)
    for child in element.children {
      guard child.name == "attribute" || child.name == "relationship" else {
        warnings.append(ModelReadingWarning(.unknownElement(child.name), place: "line \(child.line)"))
        continue
      }
      guard let name = child["name"] else {
        throw Self.malformed("the <\(child.name)> in line \(child.line) has no name")
      }
      guard object.values[name] == nil, object.links[name] == nil else {
        throw Self.malformed("the object in line \(element.line) has \"\(name.prefix(80))\" twice")
      }
      if child.name == "attribute" {
        object.values[name] = child.text
      } else {
        object.links[name] = (child["idrefs"] ?? "").split(separator: " ").map(String.init)
      }
    }
    positions[id] = objects.count
    objects.append(object)
  }

  private static func malformed(_ reason: String) -> MappingReadingError {
    MappingReadingError(problem: .malformed(reason: reason))
  }
}

extension XMLStoreReader.Object {
  /// Returns the bytes of a binary value, or `nil` if there is none.
  ///
  /// - Parameter name: The attribute's name in small letters.
  /// - Returns: The decoded bytes.
  /// - Throws: ``MappingReadingError`` if the text is not base64.
  func bytes(_ name: String) throws(MappingReadingError) -> [UInt8]? {
    guard let text = values[name] else { return nil }
    // Lines are broken after 76 characters.
    let digits = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    guard !digits.isEmpty else { return nil }
    guard let data = Data(base64Encoded: Data(digits)) else {
      throw MappingReadingError(problem: .malformed(reason: "\"\(name)\" of the object in line \(line) is no base64"))
    }
    return Array(data)
  }

  /// Returns a value that is not empty, or `nil`.
  func text(_ name: String) -> String? {
    values[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Tells whether a value is true; an absent value is the model's default.
  func boolean(_ name: String, default value: Bool) -> Bool {
    values[name].map { $0 == "1" || $0 == "YES" || $0 == "true" } ?? value
  }
}
