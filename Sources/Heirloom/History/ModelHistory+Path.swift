package import HeirloomMapping
package import HeirloomModel

extension ModelHistory {
  /// Finds the path from one version to another by given mappings and by inference.
  ///
  /// - Parameters:
  ///   - source: The version to start from.
  ///   - name: Its name; `nil` if the history doesn't have it, or if the versions between are not to be used.
  ///   - destination: The version to arrive at.
  ///   - laterName: Its name, likewise.
  ///   - given: The given mapping models.
  ///   - labels: The name of each mapping model in sentences.
  ///   - isStepwise: True to go through versions between, in the order of the lock or else of their names, where no
  ///     single mapping can be inferred.
  /// - Returns: The path.
  /// - Throws: ``MappingInferenceError`` if there is none.
  package func path(
    from source: ManagedObjectModel, named name: String?, to destination: ManagedObjectModel, named laterName: String?,
    given: [MappingModel], labels: [String], isStepwise: Bool = false
  ) throws(MappingInferenceError) -> MigrationPath {
    var between: [(name: String, model: ManagedObjectModel)] = []
    if let name, let laterName {
      between = namedVersionsBetween(name, and: laterName, isByName: isStepwise)
    }
    // Versions whose place isn't known matter only where a mapping leads to one.
    let others = given.isEmpty ? [] : versionsByMapping(from: name)
    let known = [(name, source), (laterName, destination)] + (between + others).map { ($0.name, $0.model) }
    func path(byDecidedSteps: Bool) throws(MappingInferenceError) -> MigrationPath {
      try MigrationPath(
        from: source, to: destination, between: between.map(\.model), others: others.map(\.model), given: given,
        labels: labels, isStepwise: isStepwise,
        isDecided: { byDecidedSteps && !standingDecisions(from: $0, to: $1).isEmpty }
      ) { model in known.first { $0.1 == model }?.0 }
    }
    // Where a decided step can't be inferred, the whole way may be.
    if hasDecisions, let path = try? path(byDecidedSteps: true) { return path }
    return try path(byDecidedSteps: false)
  }
}
