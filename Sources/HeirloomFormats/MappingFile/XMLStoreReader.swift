import Foundation

/// A reader of Core Data's XML stores (`NSXMLStoreType`), the format of Xcode's mapping models.
struct XMLStoreReader {
  struct Object {
    /// In capitals.
    let entity: String
    let id: String
    let line: Int
    /// By the attribute's name in lower case; a null attribute has no entry.
    var values: [String: String] = [:]
    /// Identifiers by the relationship's name in lower case.
    var links: [String: [String]] = [:]
  }

  private(set) var objects: [Object] = []
  private(set) var warnings: [ModelReadingWarning] = []
  private var positions: [String: Int] = [:]

  /// The root is the element `database`.
  init(_ root: MarkupElement) throws(MappingReadingError) {
    for element in root.children {
      switch element.name {
      case "databaseInfo": continue
      case "object": try add(element)
      default: warnings.append(ModelReadingWarning(.unknownElement(element.name), place: "line \(element.line)"))
      }
    }
  }

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
  func bytes(_ name: String) throws(MappingReadingError) -> [UInt8]? {
    guard let text = values[name] else { return nil }
    // The base64 text has line breaks after 76 characters.
    let digits = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    guard !digits.isEmpty else { return nil }
    guard let data = Data(base64Encoded: Data(digits)) else {
      throw MappingReadingError(
        problem: .malformed(
          reason: "\"\(name)\" of the object in line \(line) is not valid"
            + " base64"))
    }
    return Array(data)
  }

  func text(_ name: String) -> String? {
    values[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  func boolean(_ name: String, default value: Bool) -> Bool {
    values[name].map { $0 == "1" || $0 == "YES" || $0 == "true" } ?? value
  }
}
