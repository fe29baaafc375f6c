import HeirloomModel

/// A model whose archive's layout is not known for all that must be in it.
package enum ModelArchiveWritingError: Error, Hashable, Sendable {
  /// The expression of a derived attribute can't be archived.
  case unsupportedDerivation(entity: String, attribute: String)
  /// The archive can't be put in a property list.
  case propertyList(PropertyListError)
  /// The archive can't be compressed.
  case compression(CompressionError)
}

extension ModelArchiveWritingError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .unsupportedDerivation(let entity, let attribute):
      "The expression of the derived attribute \"\(entity).\(attribute)\" is of a kind that can't be archived."
    case .propertyList(let error): error.description
    case .compression(let error): error.description
    }
  }
}
