package import HeirloomModel

extension MappingInference {
  /// Infers how a source becomes a destination through the versions that lie between them.
  ///
  /// The mapping does at once what the hops from version to version would do one after the other.
  ///
  /// It is `nil` for fewer than two versions.
  ///
  /// - Parameter versions: The source, the versions between in their order, and the destination.
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
    // One hop can do what each single hop does: bring hierarchies together entity by entity, or drop links that lead to
    // less and less in the versions between.
    let kinds: Set<MappingObstacle.Kind> = [.mergedHierarchies, .relationshipDestination]
    guard obstacles.contains(where: { kinds.contains($0.kind) }) else { return }
    let met = Set(
      zip(versions, versions.dropFirst()).flatMap { MappingInference(from: $0, to: $1).obstacles.map(\.kind) })
    obstacles.removeAll { kinds.contains($0.kind) && !met.contains($0.kind) }
  }
}
