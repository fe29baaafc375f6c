import HeirloomModel

/// A model with parts that can't be archived because their layout is not known.
package enum ModelArchiveWritingError: Error, Hashable, Sendable {
  /// An expression of a derived attribute that can't be archived.
  case unsupportedDerivation(entity: String, attribute: String)
  /// An archive that can't be encoded as a property list.
  case propertyList(PropertyListError)
  /// An archive that can't be compressed.
  case compression(CompressionError)
}

extension ModelArchiveWritingError: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
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
