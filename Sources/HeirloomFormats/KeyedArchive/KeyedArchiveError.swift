import HeirloomModel

/// A failure to read a keyed archive.
package enum KeyedArchiveError: Error, Hashable, Sendable {
  /// Bytes that are not a binary property list.
  case propertyList(PropertyListError)
  /// A property list without the structure of a keyed archive.
  case notKeyedArchive
  /// A reference to an object that doesn't exist.
  case invalidReference(Int)
  /// An object without a class.
  case missingClass(object: Int)
  /// Objects that are nested too deeply or contain themselves.
  case tooDeep(limit: Int)
  /// References that need more steps than the archive's size justifies.
  case tooManySteps(limit: Int)
  /// Objects that can be read but are invalid; the text gives the reason.
  case senseless(String)
}

extension KeyedArchiveError: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .propertyList(let error): error.description
    case .notKeyedArchive: "The property list is not a keyed archive: it lacks a table of objects and a root."
    case .invalidReference(let reference): "The archive refers to object \(reference), which doesn't exist."
    case .missingClass(let object): "Object \(object) of the archive has no class."
    case .tooDeep(let limit): "Objects of the archive are nested more than \(limit) levels deep, or contain themselves."
    case .tooManySteps(let limit): "Reading the archive takes more than \(limit) steps, which its size doesn't justify."
    case .senseless(let reason): "In the archive \(reason)."
    }
  }
}
