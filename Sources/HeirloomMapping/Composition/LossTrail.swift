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

  /// Follows an entity, or properties of it, from one version to the last.
  ///
  /// - Parameters:
  ///   - properties: The properties' names or paths; none for the entity itself.
  ///   - entity: The entity's name.
  ///   - version: The version's number, from 0.
  /// - Returns: The names in the last version; `nil` if one of them is gone there.
  package func lastNames(
    of properties: [String], of entity: String, in version: Int
  ) -> (entity: String, properties: [String])? {
    func last(_ property: String?) -> Place? {
      correspondences[version...].reduce(Place(rows: entity, entity: entity, property: property)) { $0?.followed($1) }
    }
    let places = properties.isEmpty ? [last(nil)] : properties.map(last)
    guard let owner = places[0]?.entity, places.allSatisfy({ $0?.entity == owner }) else { return nil }
    return (owner, places.compactMap { $0?.property })
  }

  /// Finds what single hops lose of something that the long hop over all versions loses.
  ///
  /// All of them count: a hop that changes values comes before one that drops them, and whoever consented to the second
  /// alone has not consented to the first. The objects of each entity that has a property go a way of their own, since
  /// the property may move to some entities and leave others.
  ///
  /// - Parameters:
  ///   - kind: The kind of the long hop's loss.
  ///   - property: The property's name or path: in the last version for content that has too little room there, in the
  ///     first for the rest; `nil` for whole objects.
  ///   - entity: The entity's name in that version.
  /// - Returns: The causes in the order of the hops; none if no hop has a loss of the kind, or if the objects of an
  ///   entity lose the property without one.
  package func causes(of kind: LossKind, losing property: String?, of entity: String) -> [Cause] {
    // A policy's mapping names what it leaves by either side.
    for isOfSource in kind.isNamedBySource ? [true, false] : [false, true] {
      let model = isOfSource ? correspondences.first?.source : correspondences.last?.destination
      let entities = property == nil ? [] : model?.entityTree(from: entity).filter { !$0.isAbstract }.map(\.name) ?? []
      let ways = (entities.isEmpty ? [entity] : entities).map { rows in
        let place = Place(rows: rows, entity: entity, property: property)
        return Way(of: place, through: correspondences, isOfSource: isOfSource)
      }
      let found = ways.map(causes)
      func hasKind(_ causes: [Cause]) -> Bool { causes.contains { $0.effect.kind.lossKind == kind } }
      guard found.contains(where: hasKind) else { continue }
      guard zip(ways, found).allSatisfy({ !$0.losesProperty || hasKind($1) }) else { return [] }
      let all = found.joined()
      return losses.indices.flatMap { hop in losses[hop].map { Cause(hop: hop, effect: $0) } }.filter {
        all.contains($0)
      }
    }
    return []
  }

  private func causes(along way: Way) -> [Cause] {
    losses.indices.flatMap { hop in
      losses[hop].filter { effect in
        guard let kind = effect.kind.lossKind, let rows = way.rows[hop],
          effect.rows.contains(where: { $0.entity == rows })
        else { return false }
        // With an object go its values and links, under whatever names.
        if way.isOfObjects { return true }
        return (kind.isNamedBySource ? way.places[hop] : way.places[hop + 1])?.isOf(effect) ?? false
      }.map { Cause(hop: hop, effect: $0) }
    }
  }

  /// The way of one entity's own objects through the versions.
  private struct Way {
    /// The objects' entity in each version; `nil` where none matches.
    let rows: [String?]
    /// The place of the property in each version; that of the objects for whole objects.
    let places: [Place?]
    /// True for whole objects.
    let isOfObjects: Bool

    /// Follows the objects from the first version, or traces them back from the last.
    init(of place: Place, through correspondences: [ModelCorrespondence], isOfSource: Bool) {
      func way(_ place: Place) -> [Place?] {
        let steps = isOfSource ? correspondences : correspondences.reversed()
        let places = steps.reduce(into: [Place?.some(place)]) { places, step in
          let last = places.last ?? nil
          places.append(isOfSource ? last?.followed(step) : last?.tracedBack(step))
        }
        return isOfSource ? places : places.reversed()
      }
      isOfObjects = place.property == nil
      places = way(place)
      rows = way(Place(rows: place.rows, entity: place.rows)).map { $0?.rows }
    }

    /// True if the objects are in the last version, and the property isn't.
    var losesProperty: Bool {
      guard let place = places.last, let rows = rows.last else { return false }
      return place == nil && rows != nil
    }
  }

  /// An entity or a property of one version, with the entity whose own objects are meant.
  private struct Place: Equatable {
    /// The objects' entity.
    var rows: String
    /// The entity that declares the property.
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
      guard let pair = correspondence.pair(ofSource: rows) else { return nil }
      return moved(to: pair.destination.name, in: correspondence.destination) {
        pair.destinationAttributes[$0] ?? pair.destinationRelationships[$0]
      }
    }

    func tracedBack(_ correspondence: ModelCorrespondence) -> Place? {
      guard let pair = correspondence.pair(ofDestination: rows) else { return nil }
      return moved(to: pair.source.name, in: correspondence.source) { pair.attributes[$0] ?? pair.relationships[$0] }
    }

    private func moved(to rows: String, in model: ManagedObjectModel, name: (String) -> String?) -> Place? {
      guard let first = path.first else { return Place(rows: rows, entity: rows) }
      guard let name = name(first) else { return nil }
      // A property may have moved to another entity of the hierarchy.
      let owner = model.declaringEntity(ofProperty: name, in: rows)?.name ?? rows
      return Place(rows: rows, entity: owner, property: ([name] + path.dropFirst()).joined(separator: "."))
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
