package import HeirloomModel

/// A path through versions that traces the losses of one long hop to the single hops that cause them.
///
/// Names are followed as inference does, by canonical identifiers. Where they lead nowhere, a loss belongs to no hop.
package struct LossTrail: Sendable {
  /// A loss of a single hop that a loss of the long hop includes.
  package struct Cause: Hashable, Sendable {
    /// The single hop's number, from 0.
    package let hop: Int
    /// Its loss.
    package let effect: DataEffect
  }

  /// The names of each single hop's versions, matched as inference does.
  private let correspondences: [ModelCorrespondence]
  /// The possible losses of each single hop.
  private let losses: [[DataEffect]]

  /// Creates a trail.
  ///
  /// - Parameters:
  ///   - versions: At least two versions in their order.
  ///   - losses: For each single hop, its possible losses.
  package init(through versions: [ManagedObjectModel], losses: [[DataEffect]]) {
    correspondences = zip(versions, versions.dropFirst()).map { ModelCorrespondence(from: $0, to: $1) }
    self.losses = losses
  }

  private init(_ correspondences: [ModelCorrespondence], _ losses: [[DataEffect]]) {
    self.correspondences = correspondences
    self.losses = losses
  }

  /// Returns the trail of the hop from a later version to the last one.
  package func starting(at version: Int) -> LossTrail {
    LossTrail(Array(correspondences[version...]), Array(losses[version...]))
  }

  /// Finds what single hops lose of something that the long hop over all versions loses.
  ///
  /// All of them count: a hop that changes values comes before one that drops them, and whoever consented to the second
  /// alone has not consented to the first.
  ///
  /// - Parameters:
  ///   - kind: The kind of the long hop's loss.
  ///   - property: The property's name or path: in the last version for content that has too little room there, in the
  ///     first for the rest; `nil` for whole objects.
  ///   - entity: The entity's name in that version.
  /// - Returns: The causes in the order of the hops; none if no hop has a loss of the kind.
  package func causes(of kind: LossKind, losing property: String?, of entity: String) -> [Cause] {
    let place = Place(entity: entity, property: property)
    // A policy's mapping names what it leaves by either side.
    for isOfSource in kind.isNamedBySource ? [true, false] : [false, true] {
      let causes = causes(along: isOfSource ? followed(place) : tracedBack(place))
      if causes.contains(where: { $0.effect.kind.lossKind == kind }) { return causes }
    }
    return []
  }

  private func causes(along places: [Place?]) -> [Cause] {
    losses.indices.flatMap { hop in
      losses[hop].filter { effect in
        guard let kind = effect.kind.lossKind else { return false }
        if let source = places[hop], source.property == nil {
          // With an object go its values and links, under whatever names.
          return effect.rows.contains { $0.entity == source.entity }
        }
        return (kind.isNamedBySource ? places[hop] : places[hop + 1])?.isOf(effect) ?? false
      }.map { Cause(hop: hop, effect: $0) }
    }
  }

  /// Returns the places of something of the first version in each version, as far as they go.
  private func followed(_ place: Place) -> [Place?] {
    correspondences.reduce(into: [place]) { places, correspondence in
      places.append((places.last ?? nil)?.followed(correspondence))
    }
  }

  /// Returns the places of something of the last version in each version, as far back as they go.
  private func tracedBack(_ place: Place) -> [Place?] {
    correspondences.reversed().reduce(into: [place]) { places, correspondence in
      places.append((places.last ?? nil)?.tracedBack(correspondence))
    }.reversed()
  }

  /// An entity or a property of one version.
  private struct Place {
    var entity: String
    var property: String?

    /// The parts of a composite attribute's path; the first is the property's name.
    private var path: [String] {
      property?.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init) ?? []
    }

    /// Returns true for an effect on the property, on the composite attribute that it is in, or on an element of it.
    func isOf(_ effect: DataEffect) -> Bool {
      guard effect.entity == entity, let other = effect.properties.first else { return false }
      let names = other.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
      return zip(path, names).allSatisfy { $0 == $1 }
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

extension LossKind {
  /// True if a loss of the kind has the names of the source; the others have those of the destination.
  fileprivate var isNamedBySource: Bool {
    switch self {
    case .objects, .values, .links, .unknownContent: true
    case .changedValues, .linksWithoutRoom, .order: false
    }
  }
}
