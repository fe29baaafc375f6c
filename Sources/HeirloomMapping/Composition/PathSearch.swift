import HeirloomModel

/// A search for the path with the fewest inferred hops, then the fewest hops.
struct PathSearch {
  /// A possible hop: two versions by their positions.
  struct Step: Hashable {
    let start: Int
    let end: Int
  }

  /// The mapping models that are given for the same hop.
  struct Given {
    /// Positions in the list of mapping models.
    var parts: [Int]
    var mapping: MappingModel
    var overlap: (first: Int, second: Int, overlap: MappingOverlap)?
  }

  /// The best path to a version so far: its last hop, and the numbers that it is compared by.
  private struct Arrival {
    var previous: Int?
    var inferredHops = 0
    var hops = 0
    var hop: MigrationPath.Hop?
  }

  /// The ordered ones from the source to the destination, then those without a known order.
  let models: [ManagedObjectModel]
  let lastOrdered: Int
  let mappings: [MappingModel]
  private(set) var given: [Step: Given] = [:]
  /// Those that go backwards.
  private(set) var back: [Step: Given] = [:]
  /// Of mapping models that match no pair of versions, by the mapping models' positions.
  private(set) var misfits: [Int: [MappingMismatch]] = [:]

  /// Inferred hops may then end at any version of the known order.
  private let isStepwise: Bool
  /// Where an inferred hop must end because decisions apply to rows of the hops before or after.
  private let stops: Set<Int>
  private let hashes: [[String: VersionHash]]
  /// In the order that names suggest; `nil` for a version without a place in it.
  private let places: [Int?]
  private var arrivals: [Int: Arrival] = [0: Arrival()]
  private var settled: Set<Int> = []
  /// Where the path must continue with a given mapping.
  private(set) var bound: Set<Int> = []

  init(
    ordered: [ManagedObjectModel], others: [ManagedObjectModel], given mappings: [MappingModel], stops: Set<Int>,
    isStepwise: Bool
  ) {
    self.mappings = mappings
    (self.stops, self.isStepwise) = (stops, isStepwise)
    lastOrdered = ordered.count - 1
    guard !mappings.isEmpty else {
      (models, hashes, places) = (ordered, [], [])
      return
    }
    var hashes = ordered.map { $0.versionHashes() }
    let known = Set(hashes)
    let otherHashes = others.map { $0.versionHashes() }
    // Nothing is migrated between versions with equal hashes, so they count as one.
    let unordered = others.indices.filter { !known.contains(otherHashes[$0]) }
    hashes += unordered.map { otherHashes[$0] }
    models = ordered + unordered.map { others[$0] }
    places =
      ordered.indices.map { others.firstIndex(of: ordered[$0]) ?? otherHashes.firstIndex(of: hashes[$0]) }
      + unordered.map { $0 }
    self.hashes = hashes
    place()
  }

  // MARK: - The hops that mapping models are for

  private mutating func place() {
    // Hashes of all entities identify the versions. With hashes of some, a mapping may match several hops; then it
    // belongs to a hop that other mappings identify.
    var vague: [(index: Int, all: [Step], meant: [Step])] = []
    for index in mappings.indices {
      let all = steps(of: index)
      let meant = meantSteps(among: all, for: mappings[index])
      if mappings[index].tellsVersions, meant.count == 1 || meant.allSatisfy({ isWhole(mappings[index], for: $0) }) {
        for step in meant { add(index, to: step) }
      } else {
        vague.append((index, all, meant))
      }
    }
    let fixed = Set(given.keys)
    for (index, all, meant) in vague {
      let shared = mappings[index].carriesAllHashes ? all.filter(fixed.contains) : []
      // Entity names match many versions, so a mapping without hashes counts only for neighbours and the two ends.
      let likely = all.filter { step in
        step.end == step.start + 1 && step.end <= lastOrdered || step.start == 0 && step.end == lastOrdered
      }
      for step in !shared.isEmpty ? onlyStep(of: shared) : mappings[index].tellsVersions ? onlyStep(of: meant) : likely
      {
        add(index, to: step)
      }
    }
    let placed = Set(given.values.flatMap(\.parts))
    for index in mappings.indices where !placed.contains(index) {
      misfits[index] = mappings[index].mismatches(
        from: models[0], to: models[lastOrdered], sourceHashes: hashes[0], destinationHashes: hashes[lastOrdered])
    }
    for step in given.keys.filter(leadsBack) { back[step] = given[step] }
    for step in back.keys { given[step] = nil }
  }

  private func steps(of index: Int) -> [Step] {
    let mapping = mappings[index]
    let ends = models.indices.filter { mapping.mayEnd(at: hashes[$0]) }
    // A mapping may link to objects of another mapping model, provided that both are for the same hop.
    let others = Set(mappings.flatMap { $0.entityMappings.map(\.name) })
    var steps: [Step] = []
    for start in models.indices where mapping.mayStart(at: hashes[start]) {
      for end in ends where hashes[start] != hashes[end] {
        let mismatches = mapping.mismatches(
          from: models[start], to: models[end], sourceHashes: hashes[start], destinationHashes: hashes[end])
        guard mismatches.allSatisfy({ $0.isMissingLink(to: others) }) else { continue }
        steps.append(Step(start: start, end: end))
      }
    }
    return steps
  }

  /// The likeliest hops: hashes of some entities match longer hops as well.
  private func meantSteps(among steps: [Step], for mapping: MappingModel) -> [Step] {
    let narrow = steps.filter { step in isWhole(mapping, for: step) || !steps.contains { isWithin($0, step) } }
    // Of hops with the same start, the likeliest end has the fewest unmapped entities, then is the nearest by name.
    func excess(_ step: Step) -> [Int] {
      guard !isWhole(mapping, for: step) else { return [0, 0] }
      let besides = models[step.end].entities.count { mapping.entityMappings(toEntity: $0.name).isEmpty }
      guard let start = places[step.start], let end = places[step.end] else { return [besides, 0] }
      return [besides, abs(end - start)]
    }
    return narrow.filter { step in
      !narrow.contains { $0.start == step.start && excess($0).lexicographicallyPrecedes(excess(step)) }
    }
  }

  private func onlyStep(of steps: [Step]) -> [Step] {
    let atSource = steps.filter { $0.start == 0 }
    guard atSource.isEmpty else { return atSource }
    let ordered = steps.filter { $0.start < $0.end && $0.end <= lastOrdered }.min { $0.start < $1.start }
    return ordered.map { [$0] } ?? steps
  }

  private func isWhole(_ mapping: MappingModel, for step: Step) -> Bool {
    mapping.isWhole(from: models[step.start], to: models[step.end])
  }

  private func isWithin(_ inner: Step, _ outer: Step) -> Bool {
    guard inner.start < inner.end, inner.end <= outer.end, outer.start <= inner.start, outer.end <= lastOrdered else {
      return false
    }
    return hashes[inner.start] != hashes[outer.start] || hashes[inner.end] != hashes[outer.end]
  }

  private mutating func add(_ index: Int, to step: Step) {
    guard var known = given[step] else {
      given[step] = Given(parts: [index], mapping: mappings[index])
      return
    }
    for part in known.parts where known.overlap == nil {
      known.overlap = mappings[part].overlap(with: mappings[index]).map { (part, index, $0) }
    }
    known.parts.append(index)
    if known.overlap == nil { known.mapping = known.mapping.merged(with: mappings[index]) }
    given[step] = known
  }

  private func leadsBack(_ step: Step) -> Bool {
    if step.start <= lastOrdered, step.end <= lastOrdered { return step.end < step.start }
    // The order of names is only a hint: it counts only for given mappings that form a circle.
    guard let source = places[0], let destination = places[lastOrdered], let start = places[step.start],
      let end = places[step.end], (start < end) != (source < destination)
    else { return false }
    var reached: Set<Int> = [step.end]
    var front = [step.end]
    while let position = front.popLast() {
      for next in given.keys where next.start == position && reached.insert(next.end).inserted {
        front.append(next.end)
      }
    }
    return reached.contains(step.start)
  }

  // MARK: - The path

  var hops: [MigrationPath.Hop] {
    way(to: lastOrdered).dropFirst().flatMap { end -> [MigrationPath.Hop] in
      guard let arrival = arrivals[end], let start = arrival.previous, let hop = arrival.hop else { return [] }
      return hop.isGiven ? [hop] : run(from: start, to: end) ?? [hop]
    }
  }

  var used: [Given] {
    let way = way(to: lastOrdered)
    return zip(way, way.dropFirst()).compactMap { given[Step(start: $0, end: $1)] }
  }

  var reached: [Int] { settled.sorted() }

  func way(to position: Int) -> [Int] {
    var way: [Int] = []
    var next: Int? = position
    while let position = next {
      way.insert(position, at: 0)
      next = arrivals[position]?.previous
    }
    return way
  }

  mutating func findWay() -> Bool {
    let ends = Set((Array(given.keys) + back.keys).flatMap { [$0.start, $0.end] })
    let stops = ends.union(stops).union(isStepwise ? Array(0...lastOrdered) : [0, lastOrdered]).sorted()
    while let position = nearest() {
      settled.insert(position)
      if position == lastOrdered { return true }
      if leadsOnByGiven(from: position) { bound.insert(position) }
      guard let arrival = arrivals[position] else { return false }
      for end in stops where !settled.contains(end) {
        let isGiven = given[Step(start: position, end: end)] != nil
        let next = Arrival(
          previous: position, inferredHops: arrival.inferredHops + (isGiven ? 0 : 1), hops: arrival.hops + 1)
        if let known = arrivals[end], !isBetter(next, than: known) { continue }
        guard let hop = hop(from: position, to: end) else { continue }
        arrivals[end] = next
        arrivals[end]?.hop = hop
      }
    }
    return false
  }

  private func nearest() -> Int? {
    arrivals.keys.filter { !settled.contains($0) }.min { first, second in
      let (first, second) = (cost(of: first), cost(of: second))
      return first.lexicographicallyPrecedes(second)
    }
  }

  private func cost(of position: Int) -> [Int] {
    arrivals[position].map { [$0.inferredHops, $0.hops, position] } ?? []
  }

  private func isBetter(_ arrival: Arrival, than known: Arrival) -> Bool {
    let costs = [arrival, known].map { arrival in
      [arrival.inferredHops, arrival.hops] + (arrival.previous.map(distance) ?? [])
    }
    return costs[0].lexicographicallyPrecedes(costs[1])
  }

  private func distance(of position: Int) -> [Int] {
    guard position > lastOrdered else { return [0, lastOrdered - position] }
    let (names, last) = (hashes[position], hashes[lastOrdered])
    return [1, Set(names.keys).union(last.keys).count { names[$0] != last[$0] }, -position]
  }

  private func leadsOnByGiven(from position: Int) -> Bool {
    guard given.keys.contains(where: { $0.start == position }) else { return false }
    let passed = Set(way(to: position))
    return given.keys.contains { step in
      // Where given mappings form a circle, the path must leave its last version by another hop.
      step.start == position && !passed.contains(step.end) && !(settled.contains(step.end) && bound.contains(step.end))
    }
  }

  func isReachedByGiven(_ position: Int) -> Bool { arrivals[position]?.hop?.isGiven ?? false }

  /// In the order that names suggest.
  func isOutside(_ step: Step) -> Bool {
    guard let source = places[0], let destination = places[lastOrdered], let start = places[step.start],
      let end = places[step.end]
    else { return false }
    return max(start, end) <= min(source, destination) || min(start, end) >= max(source, destination)
  }

  func nextStart(after position: Int) -> Int {
    guard position <= lastOrdered else { return lastOrdered }
    let starts = given.keys.filter { $0.end <= lastOrdered }.map(\.start) + stops
    return starts.filter { $0 > position }.min() ?? lastOrdered
  }

  /// A direct hop must skip no given mapping.
  var mayGoDirectly: Bool { !bound.contains(0) && nextStart(after: 0) == lastOrdered }

  func inference(from start: Int, to end: Int) -> MappingInference? {
    start <= lastOrdered
      ? MappingInference(through: Array(models[start...end]))
      : MappingInference(from: models[start], to: models[end])
  }

  /// A mapping from a file drops unmapped entities; for one given in Swift, they are inferred.
  ///
  /// Obstacles of a property that it maps itself are left to its expression.
  func whole(_ given: Given, from start: Int, to end: Int) -> (mapping: MappingModel, obstacles: [MappingObstacle]) {
    let (source, destination) = (models[start], models[end])
    guard !given.mapping.isOfFile else { return (given.mapping.completed(from: source, to: destination), []) }
    let inference = MappingInference(from: source, to: destination, given: given.mapping)
    let obstacles = inference.obstacles.filter { !given.mapping.settles($0, in: destination) }
    return (inference.draft, obstacles)
  }

  private func hop(from start: Int, to end: Int) -> MigrationPath.Hop? {
    let (source, destination) = (models[start], models[end])
    if let given = given[Step(start: start, end: end)] {
      let (mapping, obstacles) = whole(given, from: start, to: end)
      guard obstacles.isEmpty else { return nil }
      return MigrationPath.Hop(source: source, destination: destination, mapping: mapping, isGiven: true)
    }
    // From a version without a known order, an inferred hop can only end at the destination.
    guard start < end ? end <= lastOrdered : start > lastOrdered && end == lastOrdered,
      !bound.contains(start), nextStart(after: start) >= end,
      let mapping = (try? inference(from: start, to: end)?.mappingModel())
        ?? (isStepwise ? try? MappingInference(from: source, to: destination).mappingModel() : nil)
    else { return nil }
    return MigrationPath.Hop(source: source, destination: destination, mapping: mapping, isGiven: false)
  }

  /// Divides a hop where one mapping can't express the result of the single hops.
  ///
  /// `nil` if no division is needed, or if a part can't be inferred.
  private func run(from start: Int, to end: Int) -> [MigrationPath.Hop]? {
    guard end > start + 1, end <= lastOrdered, let whole = inference(from: start, to: end), !whole.breaks.isEmpty
    else { return nil }
    var hops: [MigrationPath.Hop] = []
    for (first, last) in zip([start] + whole.breaks.map { $0 + start }, whole.breaks.map { $0 + start } + [end]) {
      guard let hop = hop(from: first, to: last) else { return nil }
      hops.append(hop)
    }
    return hops
  }
}

extension MappingMismatch {
  fileprivate func isMissingLink(to names: Set<String>) -> Bool {
    if case .unknownEntityMapping(_, let name) = problem { names.contains(name) } else { false }
  }
}

extension MappingModel {
  fileprivate var carriesAllHashes: Bool {
    entityMappings.allSatisfy {
      ($0.sourceEntityName == nil || $0.sourceEntityVersionHash != nil)
        && ($0.destinationEntityName == nil || $0.destinationEntityVersionHash != nil)
    }
  }

  /// Hashes of all entities identify the source and the destination version.
  fileprivate var tellsVersions: Bool {
    carriesAllHashes && entityMappings.contains { $0.sourceEntityName != nil }
      && entityMappings.contains { $0.destinationEntityName != nil }
  }

  fileprivate func isWhole(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    let sources = Set(entityMappings.compactMap(\.sourceEntityName))
    let destinations = Set(entityMappings.compactMap(\.destinationEntityName))
    return source.entities.allSatisfy { sources.contains($0.name) }
      && destination.entities.allSatisfy { destinations.contains($0.name) }
  }

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

  /// True if each entity with the obstacle's property has an expression of its own for it.
  fileprivate func settles(_ obstacle: MappingObstacle, in destination: ManagedObjectModel) -> Bool {
    func forms(in entity: String) -> [PropertyMapping.Form] {
      entityMappings.filter { $0.destinationEntityName == entity }
        .flatMap { $0.attributeMappings + $0.relationshipMappings }
        .filter { $0.name == obstacle.property }.map(\.form)
    }
    let entities = destination.entityTree(from: obstacle.entity).filter { !$0.isAbstract }.map { forms(in: $0.name) }
    switch obstacle.kind {
    // A mapping that is wrong in itself is refused when it is compiled, with its name.
    case .invalidMapping: return true
    case .incompatibleTypes: return !entities.isEmpty && !entities.contains(where: \.isEmpty)
    // A copy would keep the tag of external bytes, or the name of their file.
    case .externalStorageDisabled:
      return !entities.isEmpty && !entities.contains { forms in forms.isEmpty || forms.contains(where: \.isCopy) }
    default: return false
    }
  }
}

extension PropertyMapping.Form {
  fileprivate var isCopy: Bool {
    switch self {
    case .attribute, .filledAttribute, .steppedAttribute: true
    default: false
    }
  }
}
