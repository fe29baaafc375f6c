import HeirloomMapping

extension PropertyMapping {
  /// The name of the source attribute whose value is copied or converted; `nil` for any other mapping.
  var sourceAttributeName: String? {
    guard case .attribute(let name) = form else { return nil }
    return name
  }

  /// The name of the source relationship whose links are taken over; `nil` for any other mapping.
  var sourceRelationshipName: String? {
    switch form {
    case .links(let relationship), .linksThroughMapping(_, let relationship): relationship
    case .attribute, .defaultValue, .expression: nil
    }
  }
}
