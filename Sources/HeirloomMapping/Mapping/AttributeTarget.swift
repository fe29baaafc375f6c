package import HeirloomModel

/// A destination attribute, or an element of a composite one, that has a property mapping of its own.
package struct AttributeTarget: Hashable, Sendable {
  /// The path's names, joined by dots.
  package let name: String
  package let path: [String]
  package let description: AttributeDescription
  /// True when a composite around it is optional.
  package let isWithinOptional: Bool

  package init(_ attribute: AttributeDescription) {
    self.init(name: attribute.name, path: [attribute.name], description: attribute, isWithinOptional: false)
  }

  init(name: String, path: [String], description: AttributeDescription, isWithinOptional: Bool) {
    self.name = name
    self.path = path
    self.description = description
    self.isWithinOptional = isWithinOptional
  }

  package var isOptional: Bool { isWithinOptional || description.isOptional }
}

extension ManagedObjectModel {
  /// The name is that of a property mapping, such as `composite.element`.
  package func attributeTarget(_ name: String, of entity: String) -> AttributeTarget? {
    if let attribute = attribute(named: name, of: entity) {
      return AttributeTarget(attribute)
    }
    let path = name.names(separatedBy: ".").map(String.init)
    guard path.count > 1, var found = attribute(named: path[0], of: entity), !found.isTransient else { return nil }
    var isWithinOptional = false
    for name in path.dropFirst() {
      guard let element = found.composite?.elements.first(where: { $0.name == name }) else { return nil }
      isWithinOptional = isWithinOptional || found.isOptional
      found = element
    }
    return AttributeTarget(name: name, path: path, description: found, isWithinOptional: isWithinOptional)
  }
}

extension Dictionary where Key == String {
  package func value(forLongestBeginningOf path: [String]) -> (value: Value, key: String, rest: [String])? {
    for count in stride(from: path.count, to: 0, by: -1) {
      let key = count == 1 ? path[0] : path[..<count].joined(separator: ".")
      if let value = self[key] { return (value, key, Array(path[count...])) }
    }
    return nil
  }
}
