public import HeirloomModel

/// The way from one version of a model to a later one: hops, each with a mapping of its own.
///
/// Inferred mappings of versions that follow each other are composed into one hop, or into as many as it takes to come to what
/// the steps come to. Mapping models that are given for two versions are a hop of their own: an app that ships one knows more
/// than inference, so inference never passes one over.
///
/// - Where a given mapping model starts at a version that the path has come to, the path goes on by a given one, whatever is
///   known of the order. Where the order is known, inference doesn't run past a version at which one starts either.
/// - Of several ways that with the fewest inferred hops is taken, so one that given mappings lead all along before any other;
///   then that with the fewest hops; then the one whose last given mapping leads nearest to the destination, in the known order
///   or else by the number of entities that differ.
/// - A mapping that leads back is not on the way: to an earlier version of the known order, or, where others lead in a circle
///   with it, against the direction in which names lead from the source to the destination.
/// - Where the path can't go on after a given mapping, or not come to where one starts, there is no path: the error names it.
/// - Several partial mapping models of one step are one mapping if no entity is the source, or the destination, of both.
public struct MigrationPath: Hashable, Sendable {
  /// One hop.
  public struct Hop: Hashable, Sendable {
    /// The model that objects come from.
    public let source: ManagedObjectModel
    /// The model that objects become part of.
    public let destination: ManagedObjectModel
    /// How one becomes the other; whole.
    public let mapping: MappingModel
    /// Whether the mapping was given rather than inferred.
    public let isGiven: Bool
  }

  /// A mapping model that was given and that no hop goes by.
  public struct UnusedMapping: Hashable, Sendable {
    /// Its place in the list, from 0.
    public let index: Int
    /// A sentence that names it and says why.
    public let reason: String

    /// Creates a note.
    package init(index: Int, reason: String) {
      self.index = index
      self.reason = reason
    }
  }

  /// The hops in order, at least one; each starts where the one before ends.
  public let hops: [Hop]
  /// The given mapping models that no hop goes by, in their order.
  public let unused: [UnusedMapping]
  /// A sentence that names two given mapping models of one hop that can't be one; `nil` if there are none.
  ///
  /// Such a path is not to be taken.
  public let conflict: String?

  /// Looks for the best way.
  ///
  /// - Parameters:
  ///   - source: The version to start from.
  ///   - destination: The version to arrive at.
  ///   - between: The versions that lie between, in their order.
  ///   - others: Known versions whose place in the order isn't known, in the order that their names suggest; source and
  ///     destination may be among them. They are used only where a given mapping leads to one.
  ///   - given: Mapping models that are available, whole or not.
  /// - Throws: ``MappingInferenceError`` with what stands in the way, if no way leads there, and why the given mapping
  ///   models are of no use.
  public init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, between: [ManagedObjectModel] = [],
    others: [ManagedObjectModel] = [], given: [MappingModel] = []
  ) throws(MappingInferenceError) {
    try self.init(
      from: source, to: destination, between: between, others: others, given: given, labels: [], name: { _ in nil })
  }

  /// Looks for the best way, with words for the mapping models and the versions.
  ///
  /// - Parameters:
  ///   - source: The version to start from.
  ///   - destination: The version to arrive at.
  ///   - between: The versions that lie between, in their order.
  ///   - others: Known versions whose place in the order isn't known.
  ///   - given: Mapping models that are available, whole or not.
  ///   - labels: What sentences call each mapping model, such as its file; they are counted where there are none.
  ///   - name: Returns the name of a version.
  /// - Throws: ``MappingInferenceError`` if no way leads there.
  package init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, between: [ManagedObjectModel] = [],
    others: [ManagedObjectModel] = [], given: [MappingModel] = [], labels: [String],
    name: @escaping (ManagedObjectModel) -> String?
  ) throws(MappingInferenceError) {
    var search = PathSearch(ordered: [source] + between + [destination], others: others, given: given)
    let isFound = search.findWay()
    let words = PathWords(search: search, labels: labels, name: name)
    if isFound {
      hops = search.hops
      unused = words.unused
      conflict = words.conflict
      return
    }
    guard search.mayGoDirectly else { throw words.deadEnds }
    // Where steps on the way need mappings of their own, the direct way may do without.
    let direct = MappingInference(from: source, to: destination)
    guard direct.obstacles.isEmpty else {
      throw MappingInferenceError(obstacles: direct.obstacles + words.obstacles, skeleton: MappingSkeleton(direct))
    }
    hops = [Hop(source: source, destination: destination, mapping: direct.draft, isGiven: false)]
    unused = words.unused
    conflict = nil
  }
}
