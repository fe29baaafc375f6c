package import HeirloomModel

/// A path from one version of a model to a later one: hops, each with a mapping of its own.
///
/// Inferred mappings of versions that follow each other are composed into one hop, or into as many as it takes for the
/// same result. A mapping model that is given for two versions is a hop of its own. An app that ships one knows more
/// than inference, so inference never skips it.
///
/// - Where a given mapping model starts at a version on the path, the path goes on by a given one, whatever is known of
///   the order. Where the order is known, inference doesn't go past a version at which one starts either.
/// - Of several paths, the one with the fewest inferred hops is taken, so a path of given mappings alone comes first;
///   then the one with the fewest hops; then the one whose last given mapping leads nearest to the destination, in the
///   known order or else by the number of entities that differ.
/// - A mapping that leads back is on no path: one to an earlier version of the known order. A mapping that forms a
///   circle with others leads back if it goes against the direction of names from the source to the destination.
/// - Where the order is known, inference doesn't go past a step that decisions are about: their rows are the ones that the
///   step has.
/// - A stepwise path, for models between which no single mapping can be inferred, has inferred hops that end at any
///   version of the known order.
/// - Where no path goes on after a given mapping, or none reaches its start, there is no path: the error names it.
/// - Several partial mapping models of one hop are one mapping if no entity is the source, or the destination, of two.
package struct MigrationPath: Hashable, Sendable {
  /// One hop.
  package struct Hop: Hashable, Sendable {
    /// The model that objects come from.
    package let source: ManagedObjectModel
    /// The model that objects become part of.
    package let destination: ManagedObjectModel
    /// The complete mapping from one to the other.
    package let mapping: MappingModel
    /// True when the mapping was given rather than inferred.
    package let isGiven: Bool
  }

  /// A given mapping model that no hop uses.
  package struct UnusedMapping: Hashable, Sendable {
    /// Its place in the list, from 0.
    package let index: Int
    /// A sentence that names it and says why no hop uses it.
    package let reason: String

    /// Creates a note.
    package init(index: Int, reason: String) {
      self.index = index
      self.reason = reason
    }
  }

  /// The hops in order, at least one; each starts where the one before ends.
  package let hops: [Hop]
  /// The given mapping models that no hop uses, in their order.
  package let unused: [UnusedMapping]
  /// A sentence that names two given mapping models of one hop that can't be merged; `nil` if there are none.
  ///
  /// Such a path must not be taken.
  package let conflict: String?

  /// Finds the best path.
  ///
  /// - Parameters:
  ///   - source: The version to start from.
  ///   - destination: The version to arrive at.
  ///   - between: The versions that lie between, in their order.
  ///   - others: Known versions whose place in the order isn't known, in the order that their names suggest; source and
  ///     destination may be among them. They are used only where a given mapping leads to one.
  ///   - given: Mapping models that are available, complete or not.
  /// - Throws: ``MappingInferenceError`` if no path leads there, with the obstacles and the reasons why the given
  ///   mapping models don't help.
  package init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, between: [ManagedObjectModel] = [],
    others: [ManagedObjectModel] = [], given: [MappingModel] = []
  ) throws(MappingInferenceError) {
    try self.init(
      from: source, to: destination, between: between, others: others, given: given, labels: [], name: { _ in nil })
  }

  /// Finds the best path, with words for the mapping models and the versions.
  ///
  /// - Parameters:
  ///   - source: The version to start from.
  ///   - destination: The version to arrive at.
  ///   - between: The versions that lie between, in their order.
  ///   - others: Known versions whose place in the order isn't known.
  ///   - given: Mapping models that are available, complete or not.
  ///   - labels: The name of each mapping model in sentences, such as its file; or else its number.
  ///   - isStepwise: True to go through versions between where no single mapping can be inferred.
  ///   - isDecided: Returns true for a version and the next one if decisions are about the rows of the step.
  ///   - name: Returns the name of a version.
  /// - Throws: ``MappingInferenceError`` if no path leads there.
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
    // Where single hops need mappings of their own, the direct hop may do without.
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

  /// Returns the positions from and to which the steps go that decisions are about; to a store, versions with equal hashes
  /// are the same.
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
