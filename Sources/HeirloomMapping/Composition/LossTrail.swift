package import HeirloomModel

/// A path through versions that traces the losses of one long hop to the single hops that cause them.
///
/// Elements are matched by canonical identifier, as inference does. A loss that can't be matched belongs to no hop.
package struct LossTrail: Sendable {
  /// A loss of a single hop that is part of a loss of the long hop.
  package struct Cause: Hashable, Sendable {
    /// From 0.
    package let hop: Int
    package let effect: DataEffect
  }

  private let correspondences: [ModelCorrespondence]
  private let losses: [[DataEffect]]

  /// The versions, at least two, are in order; each single hop has its possible losses.
  package init(through versions: [ManagedObjectModel], losses: [[DataEffect]]) {
    correspondences = zip(versions, versions.dropFirst()).map { ModelCorrespondence(from: $0, to: $1) }
    self.losses = losses
  }

  private init(_ correspondences: [ModelCorrespondence], _ losses: [[DataEffect]]) {
    self.correspondences = correspondences
    self.losses = losses
  }

  package func starting(at version: Int) -> LossTrail {
    LossTrail(Array(correspondences[version...]), Array(losses[version...]))
  }

  /// `nil` if an element is gone in the end, or if the properties are no longer of one entity.
  ///
  /// Versions count from 0; without properties, the entity itself is followed.
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

  /// All losses of single hops that make up the loss count, in hop order: a hop that changes values
  /// comes before one that drops them, and consent to the second is not consent to the first.
  ///
  /// Each entity that has the property is followed separately, since the property may move to some
  /// entities and leave others. The result is empty if no hop has a loss of the kind, or if some
  /// entity loses the property without such a loss.
  ///
  /// The property's name or path is that of the last version for changed values, links without room
  /// and order, else that of the first; `nil` means whole objects.
  package func causes(of kind: LossKind, losing property: String?, of entity: String) -> [Cause] {
    // A loss of a mapping with a policy may be named by either side.
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
        // An object's values and links are lost with it, under whatever names.
        if way.isOfObjects { return true }
        // The order of a relationship that is gone is lost by the source's name.
        if kind == .order, way.places[hop]?.isOf(effect) == true { return true }
        return (kind.isNamedBySource ? way.places[hop] : way.places[hop + 1])?.isOf(effect) ?? false
      }.map { Cause(hop: hop, effect: $0) }
    }
  }

  /// One entity's own objects, or a property of them, in each version.
  private struct Way {
    /// `nil` where no entity matches.
    let rows: [String?]
    /// The property, or the objects themselves; `nil` where it is gone.
    let places: [Place?]
    let isOfObjects: Bool

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

    var losesProperty: Bool {
      guard let place = places.last, let rows = rows.last else { return false }
      return place == nil && rows != nil
    }
  }

  /// An entity or a property in one version, for the objects of exactly one entity.
  private struct Place: Equatable {
    var rows: String
    /// The entity that declares the property.
    var entity: String
    var property: String?

    private var path: [String] {
      property?.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init) ?? []
    }

    /// An effect on a composite attribute around the property, or on an element of it, counts too.
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
  fileprivate var isNamedBySource: Bool {
    switch self {
    case .objects, .values, .links, .unknownContent: true
    case .changedValues, .linksWithoutRoom, .order: false
    }
  }
}
