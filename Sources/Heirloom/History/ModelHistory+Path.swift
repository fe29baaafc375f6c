package import HeirloomMapping
package import HeirloomModel

extension ModelHistory {
  /// A name is `nil` if the history doesn't have the version, or the versions between must not be
  /// used.
  ///
  /// If `isStepwise` is true and no single mapping can be inferred, the path goes through the
  /// versions between, in the order of the lock, or else of their names.
  package func path(
    from source: ManagedObjectModel, named name: String?, to destination: ManagedObjectModel, named laterName: String?,
    given: [MappingModel], labels: [String], isStepwise: Bool = false
  ) throws(MappingInferenceError) -> MigrationPath {
    var between: [(name: String, model: ManagedObjectModel)] = []
    if let name, let laterName {
      between = namedVersionsBetween(name, and: laterName, isByName: isStepwise)
    }
    // Versions whose place isn't known matter only if a given mapping has one as its destination.
    let others = given.isEmpty ? [] : versionsByMapping(from: name)
    let known = [(name, source), (laterName, destination)] + (between + others).map { ($0.name, $0.model) }
    func path(byDecidedSteps: Bool) throws(MappingInferenceError) -> MigrationPath {
      try MigrationPath(
        from: source, to: destination, between: between.map(\.model), others: others.map(\.model), given: given,
        labels: labels, isStepwise: isStepwise,
        isDecided: { byDecidedSteps && !standingDecisions(from: $0, to: $1).isEmpty }
      ) { model in known.first { $0.1 == model }?.0 }
    }
    // If a decided step can't be inferred, the whole path may be.
    if hasDecisions, let path = try? path(byDecidedSteps: true) { return path }
    return try path(byDecidedSteps: false)
  }
}
