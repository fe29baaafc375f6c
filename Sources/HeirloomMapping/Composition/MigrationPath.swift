package import HeirloomModel

/// A path from one version of a model to a later one: hops, each with a mapping of its own.
///
/// Inferred mappings of consecutive versions are composed into one hop, or into as many as the same result needs. A
/// mapping model that is given for two versions is a hop of its own, which inference never skips: an app that ships a
/// mapping model knows more than inference.
///
/// - At a version where a given mapping starts, the path continues with a given mapping, whether or not the order of
///   versions is known. Where the order is known, no inferred hop passes such a version.
/// - The path with the fewest inferred hops is preferred, so a path of given mappings alone comes first; then the one
///   with the fewest hops; then the one whose last given mapping ends nearest to the destination, in the known order or
///   else by the number of entities that differ.
/// - A mapping that goes backwards is on no path: one to an earlier version of the known order. A mapping that forms a
///   circle with others goes backwards if its direction by name differs from that of the source and the destination.
/// - Where the order is known, no inferred hop passes a pair of versions with decisions, since these apply to the rows
///   of exactly that hop.
/// - A stepwise path, for models between which no single mapping can be inferred, may end inferred hops at any version
///   of the known order.
/// - There is no path if none continues after a given mapping or reaches its start; the error names that mapping.
/// - Several partial mapping models of one hop are one mapping if no entity is the source, or the destination, of two.
package struct MigrationPath: Hashable, Sendable {
  package struct Hop: Hashable, Sendable {
    package let source: ManagedObjectModel
    package let destination: ManagedObjectModel
    /// Always complete.
    package let mapping: MappingModel
    package let isGiven: Bool
  }

  /// A given mapping model that no hop uses.
  package struct UnusedMapping: Hashable, Sendable {
    /// In the list of given mapping models, from 0.
    package let index: Int
    /// A sentence that names the mapping model and says why no hop uses it.
    package let reason: String

    package init(index: Int, reason: String) {
      self.index = index
      self.reason = reason
    }
  }

  /// At least one; each starts where the one before ends.
  package let hops: [Hop]
  package let unused: [UnusedMapping]
  /// A sentence about two given mapping models of one hop that can't be merged.
  ///
  /// A path with a conflict must not be taken.
  package let conflict: String?

  /// The versions between are in their known order, others in the order that their names suggest.
  ///
  /// Others may include the source and the destination, and are used only where a given mapping
  /// ends at one. Given mapping models need not be complete. Throws ``MappingInferenceError`` if
  /// there is no path, with the obstacles and the reasons why the given mapping models don't help.
  package init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, between: [ManagedObjectModel] = [],
    others: [ManagedObjectModel] = [], given: [MappingModel] = []
  ) throws(MappingInferenceError) {
    try self.init(
      from: source, to: destination, between: between, others: others, given: given, labels: [], name: { _ in nil })
  }

  /// Labels name the mapping models in messages; one without a label is named by its number.
  ///
  /// A stepwise path may stop at versions between where no single mapping can be inferred.
  /// `isDecided` returns true for consecutive versions with decisions on rows of that hop.
  package init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, between: [ManagedObjectModel] = [],
    others: [ManagedObjectModel] = [], given: [MappingModel] = [], labels: [String], isStepwise: Bool = false,
    isDecided: (ManagedObjectModel, ManagedObjectModel) -> Bool = { _, _ in false },
    name: @escaping (ManagedObjectModel) -> String?
  ) throws(MappingInferenceError) {
    let ordered = [source] + between + [destination]
    var search = PathSearch(
      ordered: ordered, others: others, given: given, stops: between.isEmpty ? [] : Self.stops(in: ordered, isDecided),
      isStepwise: isStepwise)
    let isFound = search.findWay()
    let words = PathWords(search: search, labels: labels, name: name)
    if isFound {
      hops = search.hops
      unused = words.unused
      conflict = words.conflict
      return
    }
    guard search.mayGoDirectly else { throw words.deadEnds }
    // The direct hop may need no mapping even where single hops do.
    let direct = MappingInference(from: source, to: destination)
    guard direct.obstacles.isEmpty else {
      throw MappingInferenceError(
        obstacles: direct.obstacles + words.obstacles,
        skeleton: MappingSkeleton(direct, from: name(source), to: name(destination))?.source)
    }
    hops = [Hop(source: source, destination: destination, mapping: direct.draft, isGiven: false)]
    unused = words.unused
    conflict = nil
  }

  /// Versions with equal hashes are passed, since nothing is migrated between them.
  private static func stops(
    in ordered: [ManagedObjectModel], _ isDecided: (ManagedObjectModel, ManagedObjectModel) -> Bool
  ) -> Set<Int> {
    let decided = ordered.indices.dropLast().filter { isDecided(ordered[$0], ordered[$0 + 1]) }
    guard !decided.isEmpty else { return [] }
    let hashes = ordered.map { $0.versionHashes() }
    return decided.reduce(into: []) { stops, start in
      stops.insert(hashes[...start].lastIndex { $0 != hashes[start] }.map { $0 + 1 } ?? 0)
      stops.insert((hashes[(start + 1)...].firstIndex { $0 != hashes[start + 1] } ?? hashes.count) - 1)
    }
  }
}
