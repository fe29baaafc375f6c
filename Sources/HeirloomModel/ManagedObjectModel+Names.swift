extension ManagedObjectModel {
  /// Returns the entity whose name is nearest to one that no entity has; `nil` if none is near.
  package func nearestEntity(to name: String) -> String? {
    NameSuggestion.nearest(to: name, among: entities.map(\.name).filter { $0 != name })
  }

  /// Returns the attribute, element of a composite one or relationship whose name is nearest; `nil` if none is near.
  ///
  /// - Parameters:
  ///   - name: The name that was asked for; elements of a composite attribute follow after points: `place.city`.
  ///   - entity: The entity's name; inherited properties count.
  /// - Returns: The name itself if the entity has such a property, which then is of another kind than was asked for.
  package func nearestProperty(to name: String, of entity: String) -> String? {
    var path = name.names(separatedBy: ".").map(String.init)
    // Beside a composite attribute's name, which would be most of the letters, any element would be near.
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

  // MARK: Paths

  /// Finds the first name of a path that is not a property, up to an operator or a value.
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

  /// Finds the first name in a condition that is not a property; `nil` where the condition uses the object itself.
  package func problem(
    in condition: PredicateDescription, of entity: String
  ) -> (entity: String, property: String)? {
    for path in condition.pathsRead?.ordered() ?? [] {
      if let problem = problem(inPath: path, of: entity) { return problem }
    }
    return nil
  }
}
