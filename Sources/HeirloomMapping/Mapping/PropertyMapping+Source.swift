extension PropertyMapping {
  /// The name of the source attribute whose value is copied or converted; `nil` for any other mapping.
  package var sourceAttributeName: String? {
    switch form {
    case .attribute(let name), .filledAttribute(let name, _), .steppedAttribute(let name, _): name
    default: nil
    }
  }

  /// The name of the source relationship whose links are copied; `nil` for any other mapping.
  package var sourceRelationshipName: String? {
    switch form {
    case .links(let relationship), .linksThroughMapping(_, let relationship): relationship
    case .attribute, .filledAttribute, .steppedAttribute, .constant, .defaultValue, .expression: nil
    }
  }
}
