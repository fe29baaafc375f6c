import Foundation
import HeirloomFormats
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore

struct PlannedPath {
  let source: IdentifiedModel
  var hops: [MigrationHop]
  var unusedMappings: [String] = []

  var startsWithCode: Bool { hops.first?.willMigrate != nil }
}

struct IdentifiedModel {
  let model: ManagedObjectModel
  let origin: ModelOrigin
  let versionName: String?
  /// A model that is found only beside the store or in it may be that of a newer release.
  let isKnown: Bool
  /// All versions of the history that may have made the store, if they can't be distinguished.
  var fittingNames: [String] = []
  var doubt: String?
  var edits: [String] = []

  var warnings: [String] { edits + (doubt.map { [$0.prefix(1).uppercased() + $0.dropFirst() + "."] } ?? []) }
}

extension MigrationAssistant {
  /// The first source that has one is used: the delegate; the snapshot or the history, as
  /// ``VersionChoice`` chooses; the stages; the store's own copy.
  func sourceModel(of metadata: StoreMetadata) throws -> IdentifiedModel {
    let found = Result { try identifiedModel(of: metadata) }
    // The search has read versions, and an edited one may be why it failed.
    let edits = reportedEdits()
    var source = try found.get()
    source.edits = edits
    return source
  }

  @discardableResult
  func reportedEdits() -> [String] {
    history.editedVersions.map { entry, entities in
      report(.versionEdited(entry.name, entities: entities))
      return entry.sentence(onEdited: entities)
    }
  }

  private func identifiedModel(of metadata: StoreMetadata) throws -> IdentifiedModel {
    if stagedManager != nil { try StagedMigrationManager.check(metadata) }
    let hashes = metadata.versionHashes
    try checkAge(metadata)
    let snapshot = snapshotModel(for: hashes)
    var given = try delegate?.migrationAssistant(self, modelForStoreWith: metadata)
    if given?.versionHashes() != hashes { given = nil }
    if let choice = choice(of: metadata, snapshot: snapshot, given: given) {
      let origin: ModelOrigin = choice.isSnapshot ? .snapshot : choice.isNamed ? .file : .delegate
      if let doubt = choice.doubt { report(.sourceModelUncertain(reason: doubt)) }
      return IdentifiedModel(
        model: choice.model, origin: origin, versionName: choice.name,
        isKnown: choice.name != nil || choice.model == given || trustsSnapshot(of: choice.model) || names(hashes)
          || history.hasStep(from: choice.model),
        fittingNames: choice.fitting, doubt: choice.doubt)
    }
    if let named = stagedManager?.model(withHashes: hashes) {
      return IdentifiedModel(model: named, origin: .file, versionName: nil, isKnown: true)
    }
    if let cached = cachedModel(), cached.versionHashes() == hashes {
      return IdentifiedModel(
        model: cached, origin: .cache, versionName: nil, isKnown: names(hashes) || history.hasStep(from: cached))
    }
    throw MigrationAssistantError.noModel(
      storePath: storeURL.path, nearest: history.nearestVersions(to: hashes, ofStoreAt: storeURL.path))
  }

  /// An app that has only its current model knows its earlier ones from snapshots; a model that a
  /// longer history lacks may be a later one.
  func trustsSnapshot(of model: ManagedObjectModel) -> Bool {
    history.versionNames.count == 1 && !history.wasShippedBefore(model)
  }

  /// A stage or a mapping of the configuration has the version hashes of all entities of a store.
  private func names(_ hashes: [String: VersionHash]) -> Bool {
    stagedManager?.model(withHashes: hashes) != nil
      || configuration.mappings.contains { mapping in
        hashes.allSatisfy { name, hash in
          mapping.entityMappings.contains { $0.sourceEntityName == name && $0.sourceEntityVersionHash == hash }
        }
      }
  }

  func snapshot(of model: ManagedObjectModel, named name: String?) -> ModelSnapshot {
    var snapshot = ModelSnapshot(model: model)
    snapshot.earlierVersions = modelController.earlierVersions(than: model, named: name)
    return snapshot
  }

  /// Without reporting or asking the delegate, which returned `given` for this store.
  func choice(
    of metadata: StoreMetadata, snapshot: ManagedObjectModel?, given: ManagedObjectModel? = nil
  ) -> VersionChoice? {
    var versions = history.versions(withHashes: metadata.versionHashes)
    if let given { versions.append(VersionCandidate(name: nil, model: given, isGiven: true)) }
    return VersionChoice(
      among: versions, snapshot: snapshot, identifiers: metadata.versionIdentifiers, cached: cachedModel)
  }

  /// Without reporting or asking the delegate.
  package func versionName(of metadata: StoreMetadata) -> String? {
    let snapshot = (try? modelController.snapshot())?.model
    let fits = snapshot?.versionHashes() == metadata.versionHashes
    return choice(of: metadata, snapshot: fits ? snapshot : nil)?.name
  }

  private func cachedModel() -> ManagedObjectModel? {
    (try? StoreModelCache.model(inStoreAt: storeURL)) ?? nil
  }

  func snapshotModel(for hashes: [String: VersionHash]) -> ManagedObjectModel? {
    do {
      if let snapshot = try modelController.snapshot() {
        if snapshot.model.versionHashes() == hashes { return snapshot.model }
        report(
          .snapshotDisagrees(
            snapshotChecksum: snapshot.model.versionChecksum(),
            storeChecksum: ManagedObjectModel.versionChecksum(of: hashes)))
      }
    } catch {
      report(.snapshotUnreadable(reason: "\(error)"))
    }
    return modelController.replacedModel(withHashes: hashes)
  }

  func hopPath(from source: IdentifiedModel) throws -> PlannedPath {
    let (model, destination) = (source.model, history.current)
    let given = try givenMappings(from: source.versionName, model)
    let mistakes = given.models.flatMap { $0.mismatches(from: model, to: destination) }
      .filter { $0.isOfMappingAlone(among: given.models) }
    guard mistakes.isEmpty else {
      throw MigrationError.unsupportedMapping(
        reason: mistakes.map { ErrorWords.clause($0.description) }.joined(separator: "; "))
    }
    guard let stagedManager else {
      let path = Result { () throws(MappingInferenceError) in
        try self.path(from: model, named: source.versionName, given)
      }
      var (hops, unused) = try hops(
        from: model, named: source.versionName, to: destination, named: history.currentName, given, path)
      try addCode(to: &hops)
      return PlannedPath(source: source, hops: hops, unusedMappings: told(unused))
    }
    return try stagedPath(from: source, by: stagedManager, given)
  }

  private func stagedPath(
    from source: IdentifiedModel, by manager: StagedMigrationManager, _ given: GivenMappings
  ) throws -> PlannedPath {
    var name = source.versionName
    // A mapping model is used if any of the paths between stages uses it.
    var unused: [[MigrationPath.UnusedMapping]] = []
    let all = try manager.hops(from: source.model, to: history.current).flatMap { stagedHop in
      let versions = history.versions(withHashes: stagedHop.destination.versionHashes())
      let next = (versions.first { $0.model == stagedHop.destination } ?? versions.first)?.name
      defer { name = next }
      let isFree = stagedHop.stage == nil
      let path = Result { () throws(MappingInferenceError) in
        try history.path(
          from: stagedHop.source, named: isFree ? name : nil, to: stagedHop.destination, named: isFree ? next : nil,
          given: given.models, labels: given.labels)
      }
      var (hops, passedOver) = try hops(
        from: stagedHop.source, named: isFree ? name : nil, to: stagedHop.destination, named: isFree ? next : nil,
        given,
        path)
      unused.append(passedOver)
      try addCode(to: &hops)
      guard let stage = stagedHop.stage, !hops.isEmpty else { return hops }
      guard hops[0].willMigrate == nil, hops[hops.count - 1].didMigrate == nil else {
        throw MigrationError.unsupportedMapping(
          reason: "code is given twice for one step, by a stage and by a step of the history (\(stage.label))")
      }
      hops[0].willMigrate = StageHandler(.willMigrate, of: stage, manager: manager)
      hops[hops.count - 1].didMigrate = StageHandler(.didMigrate, of: stage, manager: manager)
      return hops
    }
    let inNone = unused.last?.filter { last in unused.allSatisfy { $0.contains { $0.index == last.index } } }
    return PlannedPath(source: source, hops: all, unusedMappings: told(inNone ?? []))
  }

  struct GivenMappings {
    var models: [MappingModel]
    var labels: [String]

    func adding(_ others: [MappingModel], label: String) -> Self {
      let isNamed = !labels.isEmpty && labels.count == models.count
      return Self(models: models + others, labels: isNamed ? labels + others.map { _ in label } : [])
    }
  }

  /// The configuration's, then those of the history's steps.
  func givenMappings(from name: String?, _ model: ManagedObjectModel) throws -> GivenMappings {
    var given = GivenMappings(models: configuration.mappings, labels: configuration.mappingLabels)
    for step in history.steps(from: name, model) {
      // Mapping models without a name are numbered.
      for index in given.labels.count..<given.models.count { given.labels.append("mapping model \(index + 1)") }
      given.labels.append(step.label)
      do throws(any Error) {
        // Models outside the history differ from store to store, so their mappings aren't cached.
        let isKnown = history.versionNames.contains(step.source)
        func made() throws -> MappingModel { try history.mapping(of: step, from: model) }
        given.models.append(isKnown ? try history.memory.mapping(of: step, make: made) : try made())
      } catch let error as MappingInferenceError {
        throw MigrationAssistantError.mappingNeeded(
          storePath: storeURL.path, obstacles: error.obstacles, skeleton: error.skeleton)
      }
    }
    return given
  }

  func path(
    from model: ManagedObjectModel, named name: String?, _ given: GivenMappings
  ) throws(MappingInferenceError) -> MigrationPath {
    let key = HistoryMemory.PathKey(source: model, versionName: name, mappings: given.models, labels: given.labels)
    return try history.memory.path(key) { () throws(MappingInferenceError) in
      try history.path(
        from: model, named: name, to: history.current, named: history.currentName, given: given.models,
        labels: given.labels)
    }
  }

  private func addCode(to hops: inout [MigrationHop]) throws {
    for index in hops.indices {
      guard let (manager, stage) = try history.stage(of: hops[index]) else { continue }
      hops[index].willMigrate = StageHandler(.willMigrate, of: stage, manager: manager)
      hops[index].didMigrate = StageHandler(.didMigrate, of: stage, manager: manager)
    }
  }

  private func mappingsPassedOver(
    by hops: [MigrationHop], _ given: GivenMappings
  ) -> [MigrationPath.UnusedMapping] {
    given.models.enumerated().compactMap { index, mapping in
      let isUsed = hops.contains { hop in
        mapping.mismatches(from: hop.source, to: hop.destination).isEmpty
          && mapping.entityMappings.allSatisfy { hop.mapping.entityMapping(named: $0.name) != nil }
      }
      guard !isUsed else { return nil }
      let label = given.labels.indices.contains(index) ? given.labels[index] : "Mapping model \(index + 1)"
      return MigrationPath.UnusedMapping(
        index: index, reason: "\(label) is not used: the path with the delegate's mapping doesn't include it.")
    }
  }

  /// Reports each given mapping that the migration doesn't use, and returns the reasons.
  private func told(_ unused: [MigrationPath.UnusedMapping]) -> [String] {
    let reasons = configuration.leftOutMappings + unused.map(\.reason)
    for reason in reasons { report(.mappingUnused(reason: reason)) }
    return reasons
  }

  /// If the delegate gives no mapping either, the hops go through the versions between.
  ///
  /// Two mappings of one hop that can't be merged throw
  /// ``MigrationError/unsupportedMapping(reason:)``.
  private func hops(
    from source: ManagedObjectModel, named name: String?, to destination: ManagedObjectModel,
    named laterName: String?, _ given: GivenMappings, _ found: Result<MigrationPath, MappingInferenceError>
  ) throws -> (hops: [MigrationHop], unused: [MigrationPath.UnusedMapping]) {
    let path: MigrationPath
    do throws(MappingInferenceError) {
      // A path through steps that the lock decides comes before one that skips them.
      path =
        if let decided = decidedPath(from: source, named: name, to: destination, named: laterName, given, deciding: [])
        {
          decided
        } else {
          try found.get {
            decidedPath(
              from: source, named: name, to: destination, named: laterName, given, deciding: configuration.decisions)
          }
        }
    } catch {
      delegate?.migrationAssistant(
        self, didFailToInferMappingFrom: source, to: destination, obstacles: error.obstacles)
      let inference = given.models.isEmpty ? MappingInference(from: source, to: destination) : nil
      let skeleton = inference.flatMap(skeleton) ?? error.skeleton
      let hops = try hopsByAsking(from: source, to: destination, given: given) { step in
        step.obstacles.isEmpty ? nil : MappingNeed(step, history)
      } whole: {
        MappingNeed(
          obstacles: error.obstacles, skeleton: skeleton, from: history.label(of: source),
          to: history.name(of: destination))
      }
      if let hops { return (hops, mappingsPassedOver(by: hops, given)) }
      let stepwise = try? history.path(
        from: source, named: name, to: destination, named: laterName, given: given.models, labels: given.labels,
        isStepwise: true)
      guard let stepwise else {
        throw MigrationAssistantError.mappingNeeded(
          storePath: storeURL.path, obstacles: error.obstacles, skeleton: skeleton)
      }
      path = stepwise
    }
    if let conflict = path.conflict { throw MigrationError.unsupportedMapping(reason: conflict) }
    let hops = try path.hops.map { hop in
      guard !hop.isGiven, !configuration.infersMappingModel else { return MigrationHop(hop) }
      let need = MappingNeed(from: history.label(of: hop.source), to: history.name(of: hop.destination))
      guard let given = try givenMapping(from: hop.source, to: hop.destination, need: need) else {
        throw MigrationAssistantError.mappingNeeded(storePath: storeURL.path, obstacles: [], skeleton: nil)
      }
      return MigrationHop(source: hop.source, destination: hop.destination, mapping: given)
    }
    return (hops, path.unused)
  }

  /// `nil` if no decision resolves an obstacle, or obstacles are left.
  private func decidedPath(
    from source: ManagedObjectModel, named name: String?, to destination: ManagedObjectModel,
    named laterName: String?, _ given: GivenMappings, deciding decisions: [DataDecision]
  ) -> MigrationPath? {
    let known = name.flatMap { name in laterName.map { history.versionsBetween(name, and: $0) } } ?? []
    let versions = [source] + known + [destination]
    let decided = zip(versions, versions.dropFirst()).compactMap { earlier, later in
      MappingModel(
        computing: decisions + history.standingDecisions(from: earlier, to: later), from: earlier,
        to: later, functions: configuration.policies.evaluatorFunctions)
    }
    guard !decided.isEmpty else { return nil }
    let all = given.adding(decided, label: "a decision")
    return try? history.path(
      from: source, named: name, to: destination, named: laterName, given: all.models, labels: all.labels)
  }

  /// Infers the parts that the delegate's mapping lacks.
  private func givenMapping(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, need: MappingNeed
  ) throws -> MappingModel? {
    let given = try delegate?.migrationAssistant(self, mappingModelFrom: source, to: destination, need: need)
    guard let given else { return nil }
    let completed = MappingInference(from: source, to: destination, given: given)
    do throws(MappingInferenceError) {
      return try completed.mappingModel()
    } catch {
      throw MigrationAssistantError.mappingNeeded(
        storePath: storeURL.path, obstacles: error.obstacles, skeleton: skeleton(completed))
    }
  }

  private func skeleton(_ inference: MappingInference) -> String? {
    MappingSkeleton(
      inference, from: history.label(of: inference.source), to: history.label(of: inference.destination))?.source
  }

  /// Asks for each step between neighbours that needs a mapping, then for the whole path.
  ///
  /// Throws if the delegate's mappings don't reach the destination; `nil` if it gave none.
  func hopsByAsking(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, given: GivenMappings? = nil,
    need: (MappingInference) -> MappingNeed?, whole: () -> MappingNeed
  ) throws -> [MigrationHop]? {
    guard delegate != nil else { return nil }
    let (first, last) = (history.name(of: source), history.name(of: destination))
    let given = try given ?? givenMappings(from: first, source)
    var found: [MappingModel] = []
    var between: [ManagedObjectModel] = []
    if let first, let last { between = history.versionsBetween(first, and: last) }
    let versions = [source] + between + [destination]
    for (earlier, later) in zip(versions, versions.dropFirst())
    where !between.isEmpty && !given.models.contains(where: { $0.mismatches(from: earlier, to: later).isEmpty }) {
      guard let need = need(MappingInference(from: earlier, to: later)) else { continue }
      if let mapping = try givenMapping(from: earlier, to: later, need: need) { found.append(mapping) }
    }
    var failure: MappingInferenceError?
    if !found.isEmpty {
      do throws(MappingInferenceError) {
        let all = given.adding(found, label: "the delegate's mapping")
        let path = try history.path(
          from: source, named: first, to: destination, named: last, given: all.models, labels: all.labels)
        return path.hops.map { hop in
          var hop = MigrationHop(hop)
          // The delegate was asked about every part of the path.
          hop.isInferred = false
          return hop
        }
      } catch {
        failure = error
      }
    }
    if let mapping = try givenMapping(from: source, to: destination, need: whole()) {
      return [MigrationHop(source: source, destination: destination, mapping: mapping)]
    }
    if let failure {
      throw MigrationAssistantError.mappingNeeded(
        storePath: storeURL.path, obstacles: failure.obstacles, skeleton: failure.skeleton)
    }
    return nil
  }
}

extension Result where Success == MigrationPath, Failure == MappingInferenceError {
  fileprivate func get(or other: () -> MigrationPath?) throws(MappingInferenceError) -> MigrationPath {
    if case .failure = self, let path = other() { return path }
    return try get()
  }
}

extension MigrationHop {
  fileprivate init(_ hop: MigrationPath.Hop) {
    self.init(source: hop.source, destination: hop.destination, mapping: hop.mapping, isInferred: !hop.isGiven)
  }
}
