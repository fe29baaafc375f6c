extension PropertyMapping {
  package var sourceAttributeName: String? {
    switch form {
    case .attribute(let name), .filledAttribute(let name, _), .steppedAttribute(let name, _): name
    default: nil
    }
  }

  package var sourceRelationshipName: String? {
    switch form {
    case .links(let relationship), .linksThroughMapping(_, let relationship): relationship
    case .attribute, .filledAttribute, .steppedAttribute, .constant, .defaultValue, .expression: nil
    }
  }
}
