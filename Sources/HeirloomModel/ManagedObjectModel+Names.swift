extension ManagedObjectModel {
  package func nearestEntity(to name: String) -> String? {
    NameSuggestion.nearest(to: name, among: entities.map(\.name).filter { $0 != name })
  }

  /// The result is the name itself if it is that of another kind of property than was asked for.
  package func nearestProperty(to name: String, of entity: String) -> String? {
    var path = name.names(separatedBy: ".").map(String.init)
    // The composite attribute's name would be most of the letters, and so make any element similar.
    if let last = path.popLast(), let first = path.first,
      let elements = attribute(named: first, of: entity)?.element(atPath: path.dropFirst())?.composite?.elements
    {
      return NameSuggestion.nearest(to: last, among: elements.map(\.name)).map { (path + [$0]).joined(separator: ".") }
    }
    let names =
      attributes(of: entity).flatMap { Self.paths(of: $0, at: $0.name) } + relationships(of: entity).map(\.name)
    return NameSuggestion.nearest(to: name, among: names)
  }

  private static func paths(of attribute: AttributeDescription, at path: String) -> [String] {
    [path] + (attribute.composite?.elements ?? []).flatMap { paths(of: $0, at: "\(path).\($0.name)") }
  }

  /// Finds the first name that the model lacks; names after a plain attribute aren't checked.
  package func problem(inPath path: String, of start: String) -> (entity: String, property: String)? {
    var entity = start
    let names = path.names(separatedBy: ".").map(String.init)
    for (index, name) in names.enumerated() {
      if name.hasPrefix("@") { continue }
      if var element = attribute(named: name, of: entity) {
        for (next, name) in names.enumerated().dropFirst(index + 1) {
          guard let composite = element.composite else { return nil }
          guard let found = composite.elements.first(where: { $0.name == name }) else {
            return (entity, names[index...next].joined(separator: "."))
          }
          element = found
        }
        return nil
      }
      guard let relationship = relationship(named: name, of: entity) else { return (entity, name) }
      entity = relationship.destinationEntity
    }
    return nil
  }

  /// Finds nothing in a condition that uses the object itself, which may read any property.
  package func problem(
    in condition: PredicateDescription, of entity: String
  ) -> (entity: String, property: String)? {
    for path in condition.pathsRead?.ordered() ?? [] {
      if let problem = problem(inPath: path, of: entity) { return problem }
    }
    return nil
  }
}
