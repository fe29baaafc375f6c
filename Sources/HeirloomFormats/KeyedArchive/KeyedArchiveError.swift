import HeirloomModel

/// Bytes that are not a keyed archive.
package enum KeyedArchiveError: Error, Hashable, Sendable {
  /// Bytes that are not a binary property list.
  case propertyList(PropertyListError)
  /// A property list without the shape of a keyed archive.
  case notKeyedArchive
  /// A reference that leads to no object.
  case invalidReference(Int)
  /// An object without a class.
  case missingClass(object: Int)
  /// Objects that are nested too deeply or hold themselves.
  case tooDeep(limit: Int)
  /// References that take more steps to follow than the archive's size justifies.
  case tooManySteps(limit: Int)
  /// Objects that can be read but make no sense; the text says what is wrong.
  case senseless(String)
}

extension KeyedArchiveError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .propertyList(let error): error.description
    case .notKeyedArchive: "The property list is no keyed archive: it lacks a table of objects and a root."
    case .invalidReference(let reference): "The archive refers to object \(reference), which doesn't exist."
    case .missingClass(let object): "Object \(object) of the archive has no class."
    case .tooDeep(let limit): "Objects of the archive are nested more than \(limit) levels deep, or hold themselves."
    case .tooManySteps(let limit): "The archive takes more than \(limit) steps to read; its size justifies fewer."
    case .senseless(let reason): "In the archive \(reason)."
    }
  }
}
