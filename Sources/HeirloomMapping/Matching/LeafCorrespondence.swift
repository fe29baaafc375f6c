package import HeirloomModel

/// A destination column and its source: the attribute itself, or a leaf of a composite.
package final class LeafCorrespondence: Sendable {
  /// From the attribute down to the leaf: one name for an ordinary attribute.
  package let path: [String]
  package let leaf: AttributeDescription
  /// True when the leaf or a composite around it is optional.
  package let isOptional: Bool
  /// `nil` if the leaf is new.
  package let sourcePath: [String]?
  package let sourceLeaf: AttributeDescription?
  /// True when the source's leaf or a composite around it is optional; false if the leaf is new.
  package let isSourceOptional: Bool

  fileprivate init(
    path: [String], leaf: AttributeDescription, isOptional: Bool, sourcePath: [String]?,
    sourceLeaf: AttributeDescription?, isSourceOptional: Bool
  ) {
    (self.path, self.leaf, self.isOptional) = (path, leaf, isOptional)
    (self.sourcePath, self.sourceLeaf, self.isSourceOptional) = (sourcePath, sourceLeaf, isSourceOptional)
  }
}

package struct AttributeLeaves: Sendable {
  /// Stored leaves of the destination, in declared order.
  package private(set) var leaves: [LeafCorrespondence] = []
  /// Paths of source leaves whose values have no place in the destination, in declared order.
  package private(set) var dropped: [[String]] = []
  /// The places where one side is a composite and the other isn't.
  private(set) var shapeChanges: [ShapeChange] = []
  private(set) var ambiguities: [Ambiguity] = []

  final class ShapeChange: Sendable {
    let path: [String]
    let source: AttributeDescription
    let destination: AttributeDescription

    fileprivate init(path: [String], source: AttributeDescription, destination: AttributeDescription) {
      (self.path, self.source, self.destination) = (path, source, destination)
    }
  }

  struct Ambiguity: Hashable, Sendable {
    let path: [String]
    let ambiguity: IdentifierMatching.Ambiguity
  }

  /// Elements of composites are matched by canonical identifier at every level.
  ///
  /// A transient attribute has no leaves.
  package init(from source: AttributeDescription?, to destination: AttributeDescription) {
    self.init(from: source, to: destination, at: [destination.name], isWithinOptional: false)
  }

  /// The path leads from the destination's attribute down to an element.
  ///
  /// `isWithinOptional` is true if a composite around the element is optional.
  package init(
    from source: AttributeDescription?, to destination: AttributeDescription, at path: [String], isWithinOptional: Bool
  ) {
    add(
      Level(source, path: source.map { [$0.name] }, isOptional: false),
      Level(destination, path: path, isOptional: isWithinOptional))
  }

  private final class Level {
    let attribute: AttributeDescription?
    let path: [String]?
    let isOptional: Bool

    /// A transient attribute counts as absent.
    init(_ attribute: AttributeDescription?, path: [String]?, isOptional: Bool) {
      let stored = attribute.flatMap { $0.isTransient ? nil : $0 }
      self.attribute = stored
      self.path = stored == nil ? nil : path
      self.isOptional = isOptional || stored?.isOptional ?? false
    }

    func element(_ element: AttributeDescription?) -> Level {
      Level(element, path: element.map { (path ?? []) + [$0.name] }, isOptional: isOptional)
    }
  }

  private mutating func add(_ source: Level, _ destination: Level) {
    guard let attribute = destination.attribute, let path = destination.path else {
      drop(source)
      return
    }
    guard let composite = attribute.composite else {
      if let other = source.attribute, other.composite != nil {
        shapeChanges.append(ShapeChange(path: path, source: other, destination: attribute))
      }
      let leaf = source.attribute?.composite == nil ? source.attribute : nil
      leaves.append(
        LeafCorrespondence(
          path: path, leaf: attribute, isOptional: destination.isOptional,
          sourcePath: leaf == nil ? nil : source.path, sourceLeaf: leaf,
          isSourceOptional: leaf != nil && source.isOptional))
      if leaf == nil { drop(source) }
      return
    }
    if let other = source.attribute, other.composite == nil {
      shapeChanges.append(ShapeChange(path: path, source: other, destination: attribute))
      drop(source)
    }
    let sourceElements = source.attribute?.composite?.elements ?? []
    let matching = IdentifierMatching(
      from: sourceElements.map(\.identified), to: composite.elements.map(\.identified))
    ambiguities += matching.ambiguities.map { Ambiguity(path: path, ambiguity: $0) }
    for element in composite.elements {
      let name = matching.sources[element.name]
      add(source.element(sourceElements.first { $0.name == name }), destination.element(element))
    }
    for element in sourceElements where matching.destinations[element.name] == nil {
      drop(source.element(element))
    }
  }

  private mutating func drop(_ level: Level) {
    guard let attribute = level.attribute, let path = level.path else { return }
    guard let composite = attribute.composite else {
      dropped.append(path)
      return
    }
    for element in composite.elements { drop(level.element(element)) }
  }
}
