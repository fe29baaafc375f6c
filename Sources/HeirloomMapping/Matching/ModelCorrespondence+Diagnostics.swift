import HeirloomModel

extension ModelCorrespondence {
  /// `isMigrated` is false for two models that a store is compatible with.
  package func diagnostics(isMigrated: Bool = true) -> [MatchingDiagnostic] {
    var found: [MatchingDiagnostic] = entityDiagnostics()
    if !isMigrated { found += entities.filter { $0.source.name != $0.destination.name }.map(Self.ignoredRename) }
    var seen: Set<String> = []
    for pair in entities {
      for property in propertyDiagnostics(of: pair) + (isMigrated ? [] : ignoredRenames(of: pair))
      where seen.insert("\(property.entity)\n\(property.property ?? "")").inserted {
        found.append(property)
      }
    }
    return found.ordered { [$0.entity, $0.property ?? ""] }
  }

  private static func ignoredRename(_ pair: EntityCorrespondence) -> MatchingDiagnostic {
    MatchingDiagnostic(
      kind: .renameWithoutMigration, entity: pair.destination.name, property: nil, counterpart: pair.source.name,
      suggestedIdentifier: pair.source.canonicalIdentifier)
  }

  private func ignoredRenames(of pair: EntityCorrespondence) -> [MatchingDiagnostic] {
    let (attributes, relationships) = (
      destination.attributes(of: pair.destination.name), destination.relationships(of: pair.destination.name)
    )
    let renamed =
      attributes.filter { !$0.isTransient }.map { ($0.name, $0.canonicalIdentifier, pair.attributes[$0.name]) }
      + relationships.filter { !$0.isTransient }.map {
        ($0.name, $0.canonicalIdentifier, pair.relationships[$0.name])
      }
    return renamed.compactMap { name, identifier, origin in
      guard let origin, origin != name,
        let owner = destination.declaringEntity(ofProperty: name, in: pair.destination.name)
      else { return nil }
      return MatchingDiagnostic(
        kind: .renameWithoutMigration, entity: owner.name, property: name, counterpart: origin,
        suggestedIdentifier: identifier)
    }
  }

  private func entityDiagnostics() -> [MatchingDiagnostic] {
    let gone = source.entities.filter { pair(ofSource: $0.name) == nil }
    let new = destination.entities.filter { pair(ofDestination: $0.name) == nil }
    let ambiguous = Set(entityAmbiguities.flatMap(\.destinations))
    var candidates = Candidates(
      removed: gone.map { Candidate($0.identified, shape: "", content: content(of: $0, in: source)) },
      added: new.filter { !ambiguous.contains($0.name) }.map {
        Candidate($0.identified, shape: "", content: content(of: $0, in: destination))
      })
    return candidates.findings().map { $0.diagnostic(of: $0.added.element.name, property: nil) }
  }

  private func propertyDiagnostics(of pair: EntityCorrespondence) -> [MatchingDiagnostic] {
    let ambiguous = Set(pair.ambiguities.flatMap(\.destinations))
    var attributes = Candidates(
      removed: source.attributes(of: pair.source.name)
        .filter { pair.destinationAttributes[$0.name] == nil }
        .map { Candidate($0.identified, shape: $0.isTransient ? nil : $0.type.name) },
      added: destination.attributes(of: pair.destination.name)
        .filter { pair.attributes[$0.name] == nil && !ambiguous.contains($0.name) && $0.derivation == nil }
        .map { Candidate($0.identified, shape: $0.isTransient ? nil : $0.type.name) })
    var relationships = Candidates(
      removed: source.relationships(of: pair.source.name)
        .filter { pair.destinationRelationships[$0.name] == nil }
        .map { Candidate($0.identified, shape: shape(of: $0)) },
      added: destination.relationships(of: pair.destination.name)
        .filter { pair.relationships[$0.name] == nil && !ambiguous.contains($0.name) }
        .map { Candidate($0.identified, shape: "\($0.destinationEntity) \($0.isToMany)") })
    return (attributes.findings() + relationships.findings()).compactMap { finding in
      let name = finding.added.element.name
      guard let owner = destination.declaringEntity(ofProperty: name, in: pair.destination.name) else { return nil }
      return finding.diagnostic(of: owner.name, property: name)
    }
  }

  /// The shape in the destination; `nil` if the destination entity is gone.
  private func shape(of relationship: RelationshipDescription) -> String? {
    pair(ofSource: relationship.destinationEntity).map { "\($0.destination.name) \(relationship.isToMany)" }
  }

  private func content(of entity: EntityDescription, in model: ManagedObjectModel) -> Set<String> {
    Set(
      model.attributes(of: entity.name).map { "\($0.name) \($0.type.name)" }
        + model.relationships(of: entity.name).map { "\($0.name) \($0.isToMany)" })
  }
}

/// An element without a counterpart.
private struct Candidate: Hashable {
  let element: IdentifiedElement
  /// A rename keeps it; `nil` for an element without stored content.
  let shape: String?
  /// Names and types of an entity's properties, or letter pairs of a property's name.
  let features: Set<String>
  /// A property's only partner of its shape is suspicious, however different the features.
  let isProperty: Bool

  init(_ element: IdentifiedElement, shape: String?, content: Set<String>? = nil) {
    self.element = element
    self.shape = shape
    features = content ?? element.name.letterPairs
    isProperty = content == nil
  }

  /// From 0 to 1.
  func likeness(to other: Candidate) -> Double {
    let total = features.count + other.features.count
    return total == 0 ? 0 : 2 * Double(features.intersection(other.features).count) / Double(total)
  }
}

private struct Candidates {
  var removed: [Candidate]
  var added: [Candidate]

  struct Finding {
    let kind: MatchingDiagnostic.Kind
    let removed: Candidate
    let added: Candidate
    var others: (added: [String], removed: [String]) = ([], [])

    func diagnostic(of entity: String, property: String?) -> MatchingDiagnostic {
      MatchingDiagnostic(
        kind: kind, entity: entity, property: property, counterpart: removed.element.name,
        suggestedIdentifier: removed.element.canonicalIdentifier, alternatives: others.added, rivals: others.removed)
    }
  }

  /// Removes the pairs that it finds, the most certain first.
  mutating func findings() -> [Finding] {
    let sure =
      take(.previousNameAsIdentifier) { $1.element.renamingIdentifier == $0.element.name }
      + take(.sameNameOtherIdentifier) { $1.element.name == $0.element.name }
    // Guessing compares every pair; in a model of that size, the guesses are of no use.
    guard added.count <= 500, removed.count <= 500 else { return sure }
    return sure + guesses()
  }

  /// A pair counts unless another pair of either element is clearly more similar.
  ///
  /// Where several count, none is proposed: following a wrong proposal moves content to the wrong
  /// entity or property.
  private func guesses() -> [Finding] {
    let removedShapes = Dictionary(grouping: removed, by: \.shape).mapValues(\.count)
    let addedShapes = Dictionary(grouping: added, by: \.shape).mapValues(\.count)
    // An element with an explicit identifier is renamed from that identifier's element, so it is no candidate.
    let new = added.filter { $0.element.renamingIdentifier == nil }
    let pairs = removed.flatMap { old in
      new.compactMap { new -> (old: Candidate, new: Candidate, likeness: Double)? in
        guard let shape = old.shape, shape == new.shape else { return nil }
        let likeness = old.likeness(to: new)
        if likeness >= 0.5 { return (old, new, likeness) }
        let counts = [removedShapes[shape] ?? 0, addedShapes[shape] ?? 0].sorted()
        return old.isProperty && counts[0] == 1 && counts[1] <= 3 ? (old, new, 0) : nil
      }
    }
    let best = Dictionary(
      pairs.flatMap { [($0.old, $0.likeness), ($0.new, $0.likeness)] }, uniquingKeysWith: { max($0, $1) })
    let likely = pairs.filter { $0.likeness > max(best[$0.old] ?? 0, best[$0.new] ?? 0) - 0.2 }
    // One question names all removed elements that may be the same new one.
    var asked: Set<Candidate> = []
    let groups = Dictionary(grouping: likely, by: \.old).values.ordered { [$0[0].old.element.name] }
    return groups.compactMap { own in
      guard let first = own.max(by: { $0.likeness < $1.likeness }), asked.insert(first.new).inserted else {
        return nil
      }
      let names = Set(own.map(\.new))
      let rivals = Set(likely.filter { names.contains($0.new) && $0.old != first.old }.map(\.old.element.name))
      let alternatives = own.map(\.new.element.name).filter { $0 != first.new.element.name }
      return Finding(
        kind: .suspectedRename, removed: first.old, added: first.new, others: (alternatives.ordered(), rivals.ordered())
      )
    }
  }

  private mutating func take(
    _ kind: MatchingDiagnostic.Kind, where belong: (_ old: Candidate, _ new: Candidate) -> Bool
  ) -> [Finding] {
    var findings: [Finding] = []
    for candidate in added {
      let fitting = removed.filter { belong($0, candidate) }
      guard let best = fitting.max(by: { $0.likeness(to: candidate) < $1.likeness(to: candidate) }) else { continue }
      findings.append(Finding(kind: kind, removed: best, added: candidate))
      removed.removeAll { $0 == best }
    }
    let taken = Set(findings.map(\.added))
    added.removeAll { taken.contains($0) }
    return findings
  }
}

extension String {
  fileprivate var letterPairs: Set<String> {
    let letters = Array(lowercased())
    return Set(zip(letters, letters.dropFirst()).map { String([$0, $1]) })
  }
}
