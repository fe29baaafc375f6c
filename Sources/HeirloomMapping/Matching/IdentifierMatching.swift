package import HeirloomModel

/// An entity, a property or an element of a composite, as matched between two versions.
package struct IdentifiedElement: Hashable, Sendable {
  package let name: String
  package let renamingIdentifier: String?

  package var canonicalIdentifier: String { renamingIdentifier ?? name }
}

/// Elements of two versions, paired by canonical identifier.
///
/// Two elements are paired if, and only if, their canonical identifiers are equal: the renaming identifier if there is
/// one, else the name. A model may give two elements the same identifier. Such a conflict is resolved only where name
/// and renaming identifier are the same on both sides and no other element of the destination uses the identifier
/// explicitly. Otherwise a value could end up in the wrong place, so the conflict is reported.
package struct IdentifierMatching: Hashable, Sendable {
  /// Source names by destination name.
  package private(set) var sources: [String: String] = [:]
  /// Destination names by source name.
  package private(set) var destinations: [String: String] = [:]
  /// Those of several elements, which therefore can't be matched.
  package private(set) var ambiguities: [Ambiguity] = []

  package struct Ambiguity: Hashable, Sendable {
    package let identifier: String
    package let sources: [String]
    package let destinations: [String]
  }

  /// Names must be unique on each side.
  package init(from source: [IdentifiedElement], to destination: [IdentifiedElement]) {
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
  package var identified: IdentifiedElement { IdentifiedElement(name: name, renamingIdentifier: renamingIdentifier) }
}

extension PropertyDescription {
  package var identified: IdentifiedElement { IdentifiedElement(name: name, renamingIdentifier: renamingIdentifier) }
}
