package import HeirloomModel

/// Swift source for what can't be inferred, with holes to fill in and a line for each possible loss.
///
/// It compiles unchanged: a hop of the history, and a policy for each entity that has holes or seems to have been
/// split. At run time it throws until all holes are filled in and all lines are decided, so that nothing is dropped by
/// oversight.
package struct MappingSkeleton: Hashable, Sendable {
  /// Ends with a line break.
  package let source: String

  struct Hole: Hashable {
    let property: String
    let isRelationship: Bool
    let reason: String
  }

  /// An entity mapping with its holes.
  struct Part {
    let from: String
    let to: String
    let className: String
    var holes: [Hole] = []
    var splits: [EntitySplit] = []
    /// Property mappings to edit, as comments.
    var lines: [String] = []

    var hasPolicy: Bool { !holes.isEmpty || !splits.isEmpty }
  }

  /// A decision that only the developer can make.
  struct Decision: Hashable {
    /// The name of a possible loss, or the entities with the same identifier.
    let subject: String
    let reason: String
    let isLoss: Bool
  }

  /// `nil` if everything can be inferred and nothing can be lost.
  package init?(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    self.init(MappingInference(from: source, to: destination))
  }

  package init?(_ inference: MappingInference, from name: String? = nil, to laterName: String? = nil) {
    let losses = inference.effects.filter { $0.kind.severity == .loss }
    guard !inference.obstacles.isEmpty || !losses.isEmpty else { return nil }
    let draft = Draft(inference: inference)
    for obstacle in inference.obstacles { draft.add(obstacle) }
    for split in EntitySplit.all(in: inference) { draft.add(split) }
    for loss in losses { draft.add(loss) }
    source = Self.text(draft, from: name, to: laterName)
  }

  final class Draft {
    let inference: MappingInference
    private let diagnostics: [MatchingDiagnostic]
    private(set) var parts: [Part] = []
    /// Entity mappings to edit, as comments.
    private(set) var lines: [String] = []
    private(set) var decisions: [Decision] = []

    init(inference: MappingInference) {
      self.inference = inference
      diagnostics = inference.correspondence.diagnostics()
    }

    private func change(_ from: String, _ to: String, _ body: (inout Part) -> Void) {
      if let index = parts.firstIndex(where: { $0.from == from && $0.to == to }) { return body(&parts[index]) }
      var part = Part(
        from: from, to: to, className: MappingSkeleton.className(from, to, Set(parts.map(\.className))))
      body(&part)
      parts.append(part)
    }

    func add(_ obstacle: MappingObstacle) {
      if obstacle.kind == .ambiguousEntity { return addClaims(obstacle) }
      let places = MappingSkeleton.places(of: obstacle, in: inference)
      guard !places.isEmpty else {
        let subject = obstacle.property.map { "\(obstacle.entity).\($0)" } ?? obstacle.entity
        decisions.append(
          Decision(subject: subject, reason: "\(obstacle.reason) \(obstacle.suggestion)", isLoss: false))
        return
      }
      for (from, to) in places {
        guard let property = obstacle.property else {
          // A separate mapping lets the entity come from another hierarchy; it needs no holes.
          change(from, to) { _ in }
          continue
        }
        let isRelationship = inference.destination.relationship(named: property, of: to) != nil
        let hole = Hole(property: property, isRelationship: isRelationship, reason: obstacle.reason)
        change(from, to) { $0.holes.append(hole) }
      }
    }

    /// Pairs entities of the same name first.
    private func addClaims(_ obstacle: MappingObstacle) {
      let claims = inference.correspondence.entityAmbiguities.filter { $0.destinations.first == obstacle.entity }
      for claim in claims {
        let namesakes = claim.destinations.filter(claim.sources.contains)
        let sources = claim.sources.filter { !namesakes.contains($0) }
        let destinations = claim.destinations.filter { !namesakes.contains($0) }
        var pairs = namesakes.map { ($0, $0) }
        for index in 0..<max(sources.count, destinations.count) {
          let source = sources.isEmpty ? claim.sources[0] : sources[min(index, sources.count - 1)]
          let destination =
            destinations.isEmpty ? claim.destinations[0] : destinations[min(index, destinations.count - 1)]
          pairs.append((source, destination))
        }
        for (from, to) in pairs { change(from, to) { _ in } }
        decisions.append(
          Decision(
            subject: "\(claim.destinations.joined(separator: ", ")) from \(claim.sources.joined(separator: ", "))",
            reason: "\(obstacle.reason) Keep the mappings that are right; a condition on rows is written where: \"…\".",
            isLoss: false))
      }
    }

    func add(_ split: EntitySplit) {
      change(split.source, split.destination) { $0.splits.append(split) }
    }

    /// A loss is left out if a split keeps the content.
    func add(_ loss: DataEffect) {
      let property = loss.properties.first
      func isKept(_ row: DataEffect.Rows) -> Bool {
        parts.contains { part in
          part.from == row.entity && part.to == row.destinationEntity
            && part.splits.contains { $0.moves.contains { $0.from == property } }
        }
      }
      // The ambiguity already asks which entity continues this one.
      let isClaimed = inference.correspondence.entityAmbiguities.contains { $0.sources.contains(loss.entity) }
      guard loss.kind != .objectsDropped || !isClaimed else { return }
      let rows = loss.kind == .valuesDropped ? loss.rows.filter { !isKept($0) } : loss.rows
      guard !rows.isEmpty else { return }
      let subject = property.map { "\(loss.entity).\($0)" } ?? loss.entity
      decisions.append(Decision(subject: subject, reason: loss.description, isLoss: true))
      switch loss.kind {
      case .objectsDropped:
        let place = SwiftText.literal(heir(ofEntity: loss.entity) ?? "…")
        lines.append("EntityMapping(from: \(SwiftText.literal(loss.entity)), to: \(place))")
      case .valuesDropped, .linksDropped:
        guard let name = property?.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init)
        else { return }
        for row in rows {
          guard let to = row.destinationEntity else { continue }
          let place = SwiftText.literal(heir(of: name, in: to) ?? "…")
          let way = loss.kind == .valuesDropped ? "copying" : "linksOf"
          let line = "PropertyMapping(\(place), \(way): \(SwiftText.literal(name)))"
          change(row.entity, to) { part in
            if !part.lines.contains(line) { part.lines.append(line) }
          }
        }
      default: return
      }
    }

    /// The new entity that is suspected to be the renamed one.
    private func heir(ofEntity name: String) -> String? {
      diagnostics.first { $0.property == nil && $0.counterpart == name }?.entity
    }

    private func heir(of property: String, in entity: String) -> String? {
      diagnostics.first {
        $0.property != nil && $0.counterpart == property && inference.destination.isEntity(entity, kindOf: $0.entity)
      }?.property
    }
  }

  /// The source and destination entities whose objects the obstacle affects.
  static func places(of obstacle: MappingObstacle, in inference: MappingInference) -> [(String, String)] {
    let tree = Set(inference.destination.entityTree(from: obstacle.entity).map(\.name))
    let pairs = inference.draft.entityMappings.compactMap { mapping -> (String, String)? in
      guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName, tree.contains(to),
        inference.destination.entity(named: to)?.isAbstract == false
      else { return nil }
      return (from, to)
    }
    switch obstacle.kind {
    case .incompatibleTypes, .externalStorageDisabled, .relationshipDestination, .ambiguousProperty:
      let name =
        obstacle.property?.names(separatedBy: ".", omittingEmptySubsequences: true).first.map(String.init) ?? ""
      return pairs.filter { inference.destination.declaringEntity(ofProperty: name, in: $0.1)?.name == obstacle.entity }
    case .mergedHierarchies:
      // Every source hierarchy but the one with the most entities needs separate mappings.
      let groups = Dictionary(grouping: pairs) { inference.source.rootEntity(of: $0.0)?.name ?? $0.0 }
      let home = groups.max { left, right in
        left.value.count == right.value.count ? right.key.utf16Precedes(left.key) : left.value.count < right.value.count
      }
      return pairs.filter { inference.source.rootEntity(of: $0.0)?.name != home?.key }
    case .ambiguousEntity, .invalidMapping, .codeNeeded: return []
    }
  }
}
