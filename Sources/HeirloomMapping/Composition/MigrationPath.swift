public import HeirloomModel

/// The way from one version of a model to a later one: hops, each with a mapping of its own.
///
/// Inferred mappings of versions that follow each other are composed into one hop, or into as many as it takes to come to what
/// the steps come to. A mapping model that is given for two versions is
/// a hop of its own, and is never passed over: an app that ships one knows more than inference. Of several ways, the shortest is
/// taken.
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

  /// The hops in order, at least one; each starts where the one before ends.
  public let hops: [Hop]
  /// Why given mapping models are for no two of the versions: the first thing about each that doesn't fit.
  public let misfits: [MappingMismatch]

  /// Looks for the shortest way.
  ///
  /// - Parameters:
  ///   - source: The version to start from.
  ///   - destination: The version to arrive at.
  ///   - between: The versions that lie between, in their order.
  ///   - others: Known versions whose place in the order isn't known: they are used only where a given mapping leads to one.
  ///   - given: Mapping models that are available, whole or not.
  /// - Throws: ``MappingInferenceError`` with what stands in the direct way, if no way leads there, and why the given mapping
  ///   models are of no use.
  public init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, between: [ManagedObjectModel] = [],
    others: [ManagedObjectModel] = [], given: [MappingModel] = []
  ) throws(MappingInferenceError) {
    var search = PathSearch(ordered: [source] + between + [destination], others: others, given: given)
    misfits = search.misfits.compactMap(\.mismatches.first)
    if let found = search.shortest() {
      hops = found
      return
    }
    // Where steps on the way need mappings of their own, the direct way may do without.
    let direct = MappingInference(from: source, to: destination)
    guard direct.obstacles.isEmpty else {
      throw MappingInferenceError(
        obstacles: direct.obstacles + search.obstacles, skeleton: MappingSkeleton(direct))
    }
    hops = [Hop(source: source, destination: destination, mapping: direct.draft, isGiven: false)]
  }
}

/// Looks for the way with the fewest hops, breadth first.
private struct PathSearch {
  /// The versions: the ordered ones first, from the source to the destination, then the others.
  let models: [ManagedObjectModel]
  let lastOrdered: Int
  /// Given mappings by the versions that they lead from and to.
  private var given: [[Int]: MappingModel] = [:]
  /// What doesn't fit in mapping models that are for no two of the versions.
  private(set) var misfits: [(mapping: MappingModel, mismatches: [MappingMismatch])] = []

  init(ordered: [ManagedObjectModel], others: [ManagedObjectModel], given mappings: [MappingModel]) {
    models = ordered + others
    lastOrdered = ordered.count - 1
    guard !mappings.isEmpty else { return }
    let hashes = models.map { $0.versionHashes() }
    for mapping in mappings {
      let carriesHashes = mapping.entityMappings.allSatisfy {
        ($0.sourceEntityName == nil || $0.sourceEntityVersionHash != nil)
          && ($0.destinationEntityName == nil || $0.destinationEntityVersionHash != nil)
      }
      let starts = models.indices.filter { mapping.mayStart(at: hashes[$0]) }
      let ends = models.indices.filter { mapping.mayEnd(at: hashes[$0]) }
      var isPlaced = false
      for start in starts {
        for end in ends where start != end {
          // Names alone fit many versions: without hashes, only neighbours and the two ends are meant.
          let isLikely = end == start + 1 && end <= lastOrdered || start == 0 && end == lastOrdered
          guard carriesHashes || isLikely,
            mapping.mismatches(
              from: models[start], to: models[end], sourceHashes: hashes[start], destinationHashes: hashes[end]
            ).isEmpty
          else { continue }
          isPlaced = true
          if given[[start, end]] == nil { given[[start, end]] = mapping }
        }
      }
      if !isPlaced {
        let mismatches = mapping.mismatches(
          from: models[0], to: models[lastOrdered], sourceHashes: hashes[0], destinationHashes: hashes[lastOrdered])
        misfits.append((mapping, mismatches))
      }
    }
  }

  mutating func shortest() -> [MigrationPath.Hop]? {
    let stops = Set(given.keys.joined()).union([0, lastOrdered]).sorted()
    var arrivals: [Int: (from: Int, hop: MigrationPath.Hop)] = [:]
    var reached: Set<Int> = [0]
    var front = [0]
    while !front.isEmpty, !reached.contains(lastOrdered) {
      var next: [Int] = []
      for start in front {
        for end in stops where !reached.contains(end) {
          guard let hop = hop(from: start, to: end) else { continue }
          reached.insert(end)
          arrivals[end] = (start, hop)
          next.append(end)
        }
      }
      front = next
    }
    var hops: [MigrationPath.Hop] = []
    var stop = lastOrdered
    while stop != 0 {
      guard let arrival = arrivals[stop] else { return nil }
      hops.insert(
        contentsOf: arrival.hop.isGiven ? [arrival.hop] : run(from: arrival.from, to: stop) ?? [arrival.hop], at: 0)
      stop = arrival.from
    }
    return hops
  }

  /// Divides a run of inferred steps where one mapping can't say what they come to; `nil` if it can't be divided so.
  private func run(from start: Int, to end: Int) -> [MigrationPath.Hop]? {
    guard start < end, end <= lastOrdered, let whole = MappingInference(through: Array(models[start...end])) else {
      return nil
    }
    var hops: [MigrationPath.Hop] = []
    for (first, last) in zip([start] + whole.breaks.map { $0 + start }, whole.breaks.map { $0 + start } + [end]) {
      guard let hop = hop(from: first, to: last) else { return nil }
      hops.append(hop)
    }
    return hops
  }

  /// Why the given mapping models don't help, for when there is no way.
  var obstacles: [MappingObstacle] {
    var obstacles = misfits.flatMap { mapping, mismatches in
      mismatches.map {
        MappingObstacle($0, in: mapping, suggestion: "Make the mapping model for the versions that there are.")
      }
    }
    var seen: Set<Int> = []
    if let circle = circle(from: 0, way: [], seen: &seen), let mapping = given[[circle[circle.count - 1], circle[0]]] {
      let names = circle.map { $0 == 0 ? "the source" : "version \($0 + 1)" }.joined(separator: ", ")
      obstacles.append(
        MappingObstacle(
          kind: .invalidMapping, entity: mapping.entityMappings.first?.sourceEntityName ?? "",
          reason:
            "Given mapping models lead in a circle, from \(names) back to where it began, and not to the destination.",
          suggestion: "Give a mapping model for the step that is missing."))
    }
    return obstacles
  }

  /// Positions of versions that mapping models lead round.
  private func circle(from position: Int, way: [Int], seen: inout Set<Int>) -> [Int]? {
    if let start = way.firstIndex(of: position) { return Array(way[start...]) }
    guard seen.insert(position).inserted else { return nil }
    let ends = Set(given.keys.filter { $0[0] == position }.map { $0[1] })
    for end in models.indices {
      let isInferred = end == position + 1 && end < lastOrdered && given[[position, end]] == nil
      guard ends.contains(end) || isInferred && hop(from: position, to: end) != nil else { continue }
      if let found = circle(from: end, way: way + [position], seen: &seen) { return found }
    }
    return nil
  }

  private func hop(from start: Int, to end: Int) -> MigrationPath.Hop? {
    let (source, destination) = (models[start], models[end])
    if let mapping = given[[start, end]] {
      let completed = mapping.completed(from: source, to: destination)
      return MigrationPath.Hop(source: source, destination: destination, mapping: completed, isGiven: true)
    }
    if start < end, end <= lastOrdered {
      // What lies within the run is not passed over.
      guard !given.keys.contains(where: { $0[0] >= start && $0[1] <= end && $0[0] < $0[1] }) else { return nil }
      guard let inference = MappingInference(through: Array(models[start...end])),
        let mapping = try? inference.mappingModel()
      else { return nil }
      return MigrationPath.Hop(source: source, destination: destination, mapping: mapping, isGiven: false)
    }
    // From a version whose place isn't known, inference leads to the end and nowhere else.
    guard start > lastOrdered, end == lastOrdered,
      let mapping = try? MappingModel.inferred(from: source, to: destination)
    else { return nil }
    return MigrationPath.Hop(source: source, destination: destination, mapping: mapping, isGiven: false)
  }
}

extension MappingModel {
  fileprivate func mayStart(at hashes: [String: VersionHash]) -> Bool {
    entityMappings.allSatisfy { mapping in
      guard let name = mapping.sourceEntityName else { return true }
      return hashes[name].map { mapping.sourceEntityVersionHash == nil || mapping.sourceEntityVersionHash == $0 }
        ?? false
    }
  }

  fileprivate func mayEnd(at hashes: [String: VersionHash]) -> Bool {
    entityMappings.allSatisfy { mapping in
      guard let name = mapping.destinationEntityName else { return true }
      return hashes[name].map {
        mapping.destinationEntityVersionHash == nil || mapping.destinationEntityVersionHash == $0
      } ?? false
    }
  }
}
