import HeirloomFormats
public import HeirloomModel

extension ModelHistory {
  /// Creates the history of a merged model, as `NSManagedObjectModel.mergedModel(from:)` makes it.
  ///
  /// ```swift
  /// let history = try ModelHistory(merging: [
  ///   ModelHistory(contentsOf: accountsURL), ModelHistory(contentsOf: notesURL),
  /// ])
  /// ```
  ///
  /// The current model has the entities of all current models. Configurations of one name hold the entities of all. A
  /// store is recognised by the version hashes of its entities, with any version of each model. A model without an
  /// entity in the store was added since. From there each model is migrated along its own history, one after the other,
  /// with the steps, consents, decisions and the floor of that history. A version is named after its parts, as
  /// `Accounts 2 and Notes`; ``versionNames`` has those from the oldest versions of all models to the current ones.
  ///
  /// - Parameter histories: The history of each model; without any, the result has no entities. Of several versions
  ///   with equal hashes, the last one up to the current one is used.
  /// - Throws: ``ModelError/unequalEntities(entity:models:)`` if two current models have an entity of one name with
  ///   different version hashes.
  public init(merging histories: [ModelHistory]) throws(ModelError) {
    let parts = histories.flatMap { $0.parts.isEmpty ? [$0] : $0.parts }
    guard parts.count > 1 else {
      self = parts.first ?? .unknown
      return
    }
    self.init(
      parts, current: try ManagedObjectModel(merging: parts.map(\.current), named: parts.map(\.currentName)), from: nil)
    merger = Merger(
      findWay: { [ways = Ways()] merged, hashes in
        guard hashes != merged.currentHashes else { return nil }
        let (start, missing) = Self.versions(of: merged.parts, having: hashes)
        guard missing.isEmpty else { return nil }
        return ways.way(from: start) {
          let lock = merged.lockBelowFloor(start, hashes)
          var way = ModelHistory(merged.parts, current: merged.current, from: lock == nil ? start : nil)
          if let lock { way = way.locked(by: lock) }
          way.steps += merged.steps
          return way
        }
      }, findVersions: Self.versions)
  }

  /// `start` has the versions that a store was made with, each `nil` if the part was added since.
  ///
  /// Without it, the path starts at the oldest version of each part, and models are read when
  /// needed.
  private init(_ parts: [ModelHistory], current: ManagedObjectModel, from start: [String?]?) {
    let (nodes, arePlaced) = Self.nodes(of: parts, from: start ?? parts.map { $0.versionNames.first })
    let last = parts.map { Optional($0.currentName) }
    let versions: [Version?] = nodes.enumerated().map { index, node in
      let moved = parts.indices.first { index > 0 && nodes[index - 1][$0] != node[$0] } ?? 0
      let file = parts[moved].versions.first { $0.name == node[moved] }?.file
      let source: Source
      if node == last {
        source = .model(current)
      } else if start == nil {
        source = .merged { () throws(ModelReadingError) in try Self.model(of: parts, node) }
      } else {
        // If two parts share an entity and both change it, neither new version can be merged without the other.
        guard let model = try? Self.model(of: parts, node) else { return nil }
        source = .model(model)
      }
      return Version(name: Self.name(of: node), source: source, file: file, isPlaced: arePlaced)
    }
    self.init(
      current: current, name: Self.name(of: last), warnings: parts.flatMap(\.warnings),
      versions: versions.compactMap(\.self))
    self.parts = parts
    merger = Merger(findWay: { _, _ in nil }, findVersions: Self.versions)
    if start != nil { takeOver(nodes, versions.map { $0?.name }) }
  }

  /// Part after part is migrated to the current version, or to that of `start` if it is later.
  ///
  /// `arePlaced` is false if the order of versions is only guessed from names.
  private static func nodes(
    of parts: [ModelHistory], from start: [String?]
  ) -> (list: [[String?]], arePlaced: Bool) {
    let isLater = zip(parts, start).map { part, name in name.map(part.isNewer) ?? false }
    var node = parts.indices.map { isLater[$0] ? parts[$0].currentName : start[$0] }
    var ways = zip(parts, node).map { part, name in
      let names = part.versionNames.prefix { $0 != part.currentName } + [part.currentName]
      guard let name else { return [part.currentName] }
      return Array(names.drop { $0 != name }.dropFirst())
    }
    let isPlaced = parts.map { $0.versions.allSatisfy(\.isPlaced) }
    // A guessed order of two versions must not replace the known order of another part.
    if parts.indices.contains(where: { isPlaced[$0] && ways[$0].count > 1 }) {
      for index in parts.indices where !isPlaced[index] { ways[index] = ways[index].suffix(1) }
    }
    var list = [node]
    for index in parts.indices {
      for name in ways[index] {
        node[index] = name
        list.append(node)
      }
    }
    if isLater.contains(true) { list.append(start) }
    return (list, parts.indices.allSatisfy { isPlaced[$0] || ways[$0].count <= 1 })
  }

  private static func model(
    of parts: [ModelHistory], _ node: [String?]
  ) throws(ModelReadingError) -> ManagedObjectModel {
    var models: [ManagedObjectModel] = []
    for (part, name) in zip(parts, node) {
      if let name, let model = try part.model(named: name) { models.append(model) }
    }
    do throws(ModelError) {
      return try ManagedObjectModel(merging: models)
    } catch {
      throw ModelReadingError(problem: .inconsistent(error))
    }
  }

  private static func name(of node: [String?]) -> String { mergedName(node.compactMap(\.self)) }

  // MARK: What a store is made of

  @Sendable private static func versions(
    of parts: [ModelHistory], having hashes: [String: VersionHash]
  ) -> (versions: [String?], missing: [String]) {
    let fitting = parts.map { $0.fitting(hashes) }
    let found = ManagedObjectModel.versions(having: Set(hashes.keys), in: fitting.map { $0.map(\.entities) })
    return (
      zip(fitting, found.needed).map { fitting, needed in needed.map { fitting[$0].name } }, found.missing.ordered()
    )
  }

  /// The likeliest first; versions whose entities are a subset of another's are left out.
  private func fitting(_ hashes: [String: VersionHash]) -> [(name: String, entities: Set<String>)] {
    var found: [(name: String, entities: Set<String>)] = []
    func add(_ name: String, _ entities: some Sequence<String>) {
      let entities = Set(entities)
      guard !entities.isEmpty, !found.contains(where: { $0.entities.isSuperset(of: entities) }) else { return }
      found.removeAll { entities.isSuperset(of: $0.entities) }
      found.append((name, entities))
    }
    let likely = likelyVersions
    for version in likely.filter(\.isGiven) + likely.filter({ !$0.isGiven }) {
      guard let own = self.hashes(of: version), own.allSatisfy({ hashes[$0.key] == $0.value }) else { continue }
      add(version.name, own.keys)
    }
    // A version before the floor needs no model.
    for entry in lock?.versionsBelowFloor ?? [] where !versions.contains(where: { $0.name == entry.name }) {
      guard let own = entry.entities, own.allSatisfy({ hashes[$0.key]?.description == $0.value }) else { continue }
      add(entry.name, own.keys)
    }
    return found
  }

  private final class Ways: Sendable {
    private let known = Locked<[(start: [String?], way: ModelHistory)]>([])

    func way(from start: [String?], make: () -> ModelHistory) -> ModelHistory {
      if let known = known.withLock({ $0.first { $0.start == start } }) { return known.way }
      let way = make()
      known.withLock { $0 = $0.suffix(7) + [(start, way)] }
      return way
    }
  }

  // MARK: What the parts' histories say

  /// `names` has `nil` for versions of the parts that can't be merged.
  private mutating func takeOver(_ nodes: [[String?]], _ names: [String?]) {
    var lock = VersionLock()
    for (index, part) in parts.enumerated() {
      func step(_ source: String, _ destination: String) -> VersionLock.Step? {
        guard let leaving = nodes.lastIndex(where: { $0[index] == source }),
          let arriving = nodes.firstIndex(where: { $0[index] == destination }), leaving < arriving,
          let from = names[...leaving].last(where: { $0 != nil }) ?? nil,
          let to = names[arriving...].first(where: { $0 != nil }) ?? nil
        else { return nil }
        return VersionLock.Step(source: from, destination: to)
      }
      func isAsLocked(_ name: String) -> Bool {
        guard let model = try? part.model(named: name) else { return true }
        return part.isAsLocked(name, model)
      }
      for consent in part.acknowledgements where isAsLocked(consent.source) && isAsLocked(consent.destination) {
        var steps = [step(consent.source, consent.destination)]
        // A consent to the part's whole path counts for the whole merged path too.
        if consent.source == nodes[0][index], consent.destination == part.currentName, let first = names[0] {
          steps.append(VersionLock.Step(source: first, destination: currentName))
        }
        for step in steps.compactMap(\.self) {
          for loss in consent.losses {
            lock.acknowledge(loss.name, kind: loss.kind, from: step.source, to: step.destination)
          }
        }
      }
      for decision in part.lock?.namedDecisions ?? [] where isAsLocked(decision.step.destination) {
        if let step = step(decision.step.source, decision.step.destination) { lock.decide(decision.at(step)) }
      }
      lock.stepsByCode += (part.lock?.namedStepsByCode ?? []).compactMap { step($0.source, $0.destination) }
      plannedStepsByCode += part.plannedStepsByCode.compactMap { step($0.source, $0.destination) }
      steps += part.steps.compactMap { said in
        step(said.source, said.destination).map { step in
          GivenHop(
            source: step.source, destination: step.destination, mapping: said.mapping, willMigrate: said.willMigrate,
            didMigrate: said.didMigrate)
        }
      }
    }
    self = locked(by: lock)
  }

  /// `nil` if no part is below its floor.
  private func lockBelowFloor(_ start: [String?], _ hashes: [String: VersionHash]) -> VersionLock? {
    let floors = zip(parts, start).compactMap { part, name in
      part.lock.flatMap { lock in lock.versionsBelowFloor.contains { $0.name == name } ? lock.floorName : nil }
    }
    guard !floors.isEmpty else { return nil }
    let floor = Self.mergedName(floors)
    var lock = VersionLock(versions: [
      VersionLock.Entry(name: Self.name(of: start), checksum: ManagedObjectModel.versionChecksum(of: hashes)),
      VersionLock.Entry(id: "floor", name: floor, checksum: nil),
    ])
    lock.floor = "floor"
    return lock
  }
}
