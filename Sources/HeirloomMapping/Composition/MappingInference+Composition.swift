package import HeirloomModel

extension MappingInference {
  /// The mapping has the effect of all single hops in turn; `nil` for fewer than two versions.
  package init?(through versions: [ManagedObjectModel]) {
    guard versions.count > 1, let source = versions.first, let destination = versions.last else { return nil }
    guard versions.count > 2 else {
      self.init(from: source, to: destination)
      return
    }
    let completion = MappingCompletion(ModelCorrespondence(from: source, to: destination))
    let composition = MappingComposition(through: versions)
    let given = composition.entityMappings.map { Self.named($0, completion: completion) }
    self.init(
      completion: completion, given: given, draft: MappingModel(entityMappings: given), areInferred: true,
      obstacles: composition.obstacles)
    breaks = composition.breaks
    // One hop can be inferred although the direct comparison has these obstacles: hierarchies may merge entity by
    // entity, and links may lose destination entities one by one, in the versions between.
    let kinds: Set<MappingObstacle.Kind> = [.mergedHierarchies, .relationshipDestination]
    guard obstacles.contains(where: { kinds.contains($0.kind) }) else { return }
    let met = Set(
      zip(versions, versions.dropFirst()).flatMap { MappingInference(from: $0, to: $1).obstacles.map(\.kind) })
    obstacles.removeAll { kinds.contains($0.kind) && !met.contains($0.kind) }
  }
}
