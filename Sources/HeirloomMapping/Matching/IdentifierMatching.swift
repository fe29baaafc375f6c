import HeirloomModel

/// An element that is matched between two versions: an entity, a property, or an element of a composite.
struct IdentifiedElement: Hashable, Sendable {
  let name: String
  let renamingIdentifier: String?

  var canonicalIdentifier: String { renamingIdentifier ?? name }
}

/// Elements of two versions, paired by canonical identifier.
///
/// Two elements belong together if, and only if, their canonical identifiers are equal: the renaming identifier if
/// there is one, else the name. Nothing in a model keeps two elements from claiming the same identifier. Such a claim
/// is settled only where name and renaming identifier are the same on both sides and no other element of the
/// destination names the identifier expressly. Otherwise a value could end up in the wrong place, so it is reported.
struct IdentifierMatching: Hashable, Sendable {
  /// Names of the source by name of the destination.
  private(set) var sources: [String: String] = [:]
  /// Names of the destination by name of the source.
  private(set) var destinations: [String: String] = [:]
  /// Identifiers that several elements claim so that none can be matched, sorted.
  private(set) var ambiguities: [Ambiguity] = []

  /// An identifier that several elements claim.
  struct Ambiguity: Hashable, Sendable {
    let identifier: String
    /// Names in the source, sorted.
    let sources: [String]
    /// Names in the destination, sorted.
    let destinations: [String]
  }

  /// Pairs elements; names are unique on each side.
  init(from source: [IdentifiedElement], to destination: [IdentifiedElement]) {
    let sourceGroups = Dictionary(grouping: source, by: \.canonicalIdentifier)
    let destinationGroups = Dictionary(grouping: destination, by: \.canonicalIdentifier)
    for identifier in destinationGroups.keys.ordered() {
      guard let sourceGroup = sourceGroups[identifier], let destinationGroup = destinationGroups[identifier] else {
        continue
      }
      match(sourceGroup, destinationGroup, identifier: identifier)
    }
  }

  private mutating func match(
    _ source: [IdentifiedElement], _ destination: [IdentifiedElement], identifier: String
  ) {
    if source.count == 1, destination.count == 1 {
      pair(source[0], destination[0])
      return
    }
    let unchanged = Set(source).intersection(destination)
    let sourceRest = source.filter { !unchanged.contains($0) }
    let destinationRest = destination.filter { !unchanged.contains($0) }
    let isSettled =
      !unchanged.isEmpty && (sourceRest.isEmpty || destinationRest.isEmpty)
      && destinationRest.allSatisfy { $0.renamingIdentifier == nil }
    for element in unchanged where isSettled { pair(element, element) }
    if !isSettled {
      ambiguities.append(
        Ambiguity(
          identifier: identifier, sources: source.map(\.name).ordered(),
          destinations: destination.map(\.name).ordered()))
    }
  }

  private mutating func pair(_ source: IdentifiedElement, _ destination: IdentifiedElement) {
    sources[destination.name] = source.name
    destinations[source.name] = destination.name
  }
}

extension EntityDescription {
  var identified: IdentifiedElement { IdentifiedElement(name: name, renamingIdentifier: renamingIdentifier) }
}

extension PropertyDescription {
  var identified: IdentifiedElement { IdentifiedElement(name: name, renamingIdentifier: renamingIdentifier) }
}
