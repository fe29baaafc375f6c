package import HeirloomModel

/// A path through versions that traces the losses of one long hop to the single hops that cause them.
///
/// Names are followed as inference does, by canonical identifiers. Where they lead nowhere, a loss belongs to no hop.
package struct LossTrail: Sendable {
  /// The versions in order, from the long hop's source to its destination.
  private let versions: [ManagedObjectModel]

  /// Creates a trail.
  ///
  /// - Parameter versions: At least two versions in their order.
  package init(through versions: [ManagedObjectModel]) {
    self.versions = versions
  }

  /// Finds the single hop that causes a loss of the long hop over all versions.
  ///
  /// - Parameters:
  ///   - property: The property's name or path in the first version, or in the last if it has too little room there;
  ///     `nil` for whole objects.
  ///   - entity: The entity's name in that version.
  ///   - losses: For each single hop, its losses by name: `Entity` or `Entity.property`, as either version names them.
  /// - Returns: The hop's number, from 0; `nil` if none of them causes the loss.
  package func step(losing property: String?, of entity: String, among losses: [Set<String>]) -> Int? {
    guard versions.count > 1, losses.count == versions.count - 1, losses.contains(where: { !$0.isEmpty }) else {
      return nil
    }
    var place = Place(entity: entity, property: property)
    for step in losses.indices {
      if place.isNamed(in: losses[step]) { return step }
      guard let next = place.followed(ModelCorrespondence(from: versions[step], to: versions[step + 1])) else { break }
      place = next
    }
    place = Place(entity: entity, property: property)
    for step in losses.indices.reversed() {
      if place.isNamed(in: losses[step]) { return step }
      guard let before = place.tracedBack(ModelCorrespondence(from: versions[step], to: versions[step + 1])) else {
        return nil
      }
      place = before
    }
    return nil
  }

  /// An entity or a property of one version.
  private struct Place {
    var entity: String
    var property: String?

    /// The parts of a composite attribute's path; the first is the property's name.
    private var path: [String] {
      property?.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init) ?? []
    }

    /// Tells whether a list has the name, or that of the composite attribute that it is in.
    func isNamed(in names: Set<String>) -> Bool {
      guard property != nil else { return names.contains(entity) }
      return (1...max(1, path.count)).contains { count in
        names.contains("\(entity).\(path.prefix(count).joined(separator: "."))")
      }
    }

    func followed(_ correspondence: ModelCorrespondence) -> Place? {
      guard let pair = correspondence.pair(ofSource: entity) else { return nil }
      return moved(to: pair.destination.name, in: correspondence.destination) {
        pair.destinationAttributes[$0] ?? pair.destinationRelationships[$0]
      }
    }

    func tracedBack(_ correspondence: ModelCorrespondence) -> Place? {
      guard let pair = correspondence.pair(ofDestination: entity) else { return nil }
      return moved(to: pair.source.name, in: correspondence.source) { pair.attributes[$0] ?? pair.relationships[$0] }
    }

    private func moved(to entity: String, in model: ManagedObjectModel, name: (String) -> String?) -> Place? {
      guard let first = path.first else { return Place(entity: entity) }
      guard let name = name(first) else { return nil }
      // A property may have moved to another entity of the hierarchy.
      let owner = model.declaringEntity(ofProperty: name, in: entity)?.name ?? entity
      return Place(entity: owner, property: ([name] + path.dropFirst()).joined(separator: "."))
    }
  }
}
