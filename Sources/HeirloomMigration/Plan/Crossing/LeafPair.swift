import HeirloomMapping
import HeirloomModel

/// A leaf of a destination attribute and the leaf of the source attribute that it comes from.
///
/// The leaf of an attribute that is not a composite is the attribute itself.
final class LeafPair {
  let source: AttributeDescription
  let destination: AttributeDescription
  let sourcePath: [String]
  /// True when the leaf, with all composites around it, is required and was not before.
  let mustFill: Bool

  init?(from source: AttributeDescription, to target: AttributeTarget, path: [String]) {
    var (source, destination) = (source, target.description)
    var sourcePath: [String] = []
    var isOptional = target.isOptional
    var wasOptional = source.isOptional
    for name in path {
      guard let element = destination.composite?.elements.first(where: { $0.name == name }),
        let sourceElement = source.composite?.elements.first(where: {
          $0.canonicalIdentifier == element.canonicalIdentifier
        })
      else { return nil }
      (source, destination) = (sourceElement, element)
      sourcePath.append(sourceElement.name)
      isOptional = isOptional || element.isOptional
      wasOptional = wasOptional || sourceElement.isOptional
    }
    guard source.composite == nil, destination.composite == nil, !source.isTransient else { return nil }
    self.source = source
    self.destination = destination
    self.sourcePath = sourcePath
    mustFill = wasOptional && !isOptional
  }
}
