import Heirloom
import HeirloomOutput

/// The possible losses of a history's migrations, told from models and mappings alone, and checked against the lock.
///
/// A loss belongs to the hop between two versions that follow each other.
/// A loss that only a longer path has, such as by a mapping model of its own, belongs to the versions at its ends.
struct LossReview {
  /// A possible loss between two versions.
  struct Loss {
    /// The earlier version.
    let source: HistoryCheck.Version
    /// The name of the later version.
    let destinationName: String
    /// The loss and the rows that it concerns.
    let effect: DataEffect
    /// True when the lock acknowledges the loss.
    var isAcknowledged: Bool

    /// The name by which the loss is acknowledged.
    var name: String { effect.lossName }

    /// The name and the kind of the loss.
    fileprivate var key: [String] { [name, effect.kind.lossKind?.rawValue ?? ""] }

    /// Returns true if the loss is of links to objects that a rename would keep.
    func isOfLinks(to rename: RenameSuspicion) -> Bool {
      guard rename.kind == .entity, case .foreignLinks(let targets) = effect.kind else { return false }
      return Set(targets).isSubset(of: [rename.removed] + rename.rivals)
    }

    /// Returns true if the loss is what a rename that the model lacks would keep.
    func isOf(_ rename: RenameSuspicion) -> Bool {
      let names = [rename.removed] + rename.rivals
      guard rename.kind != .entity else { return names.contains(name) }
      return names.contains(effect.lossProperty ?? "")
        && (source.model.isEntity(effect.entity, kindOf: rename.sourceEntity)
          || source.model.isEntity(rename.sourceEntity, kindOf: effect.entity))
    }
  }

  /// The versions whose step to the next one the app's own code migrates.
  private let stepsByCode: Set<String>
  /// The losses, by version, in the order of entities.
  private(set) var losses: [Loss] = []
  /// The losses that the models imply at steps whose mapping isn't known here; code may keep the content.
  private(set) var impliedLosses: [Loss] = []
  /// The losses that the lock acknowledges and no migration has.
  private(set) var stale: [(loss: VersionLock.Acknowledgement.Loss, source: String, destination: String)] = []
  /// The acknowledgements that say no kind, between versions one of which has no model here.
  private(set) var withoutModel: [(entry: VersionLock.Acknowledgement, missing: String)] = []
  /// The renames that the steps with an open loss seem to lack, by version.
  private(set) var renames: [(source: HistoryCheck.Version, destination: HistoryCheck.Version, RenameSuspicion)] = []

  /// Reviews a history.
  ///
  /// - Parameters:
  ///   - versions: The versions up to the current one, in their order.
  ///   - acknowledged: The losses that the lock acknowledges.
  ///   - mappings: The mapping models that are given.
  ///   - byApp: The versions whose step to the next one the app's own code migrates; its losses are not known.
  ///   - takesLongPaths: False to pass over longer paths, whose number grows with the square of the versions'.
  ///   - models: The names of all versions whose models can be read; `nil` for those of `versions`.
  init(
    of versions: [HistoryCheck.Version], acknowledged: [VersionLock.Acknowledgement], mappings: GivenMappings,
    byApp: Set<String>, takesLongPaths: Bool = true, models: Set<String>? = nil
  ) {
    stepsByCode = byApp
    guard let last = versions.indices.last else { return }
    var steps: [[DataEffect]] = []
    func add(_ effects: [DataEffect], _ source: Int, _ destination: Int, to losses: inout [Loss]) {
      let (earlier, later) = (versions[source], versions[destination])
      let known = AcknowledgedLosses(
        acknowledged.filter { $0.source == earlier.name && $0.destination == later.name }.flatMap(\.losses),
        from: earlier.model, to: later.model, mapped: effects)
      var told = Set(losses.filter { $0.source.name == earlier.name }.map(\.key))
      for effect in effects {
        let loss = Loss(
          source: earlier, destinationName: later.name, effect: effect, isAcknowledged: known.contains(effect))
        if told.insert(loss.key).inserted { losses.append(loss) }
      }
    }
    var unknown = byApp
    for position in versions.indices.dropLast() {
      let (source, destination) = (versions[position], versions[position + 1])
      let effects = Self.effects(through: [source, destination], mappings)
      // The app's code may keep some of it, which nobody knows here; nor does anybody know a longer path's loss.
      steps.append(effects ?? [])
      if effects == nil { unknown.insert(source.name) }
      if unknown.contains(source.name) {
        let inference = MappingInference(from: source.model, to: destination.model)
        let implied = inference.settledEffects.filter { $0.kind.severity == .loss }
        add(implied, position, position + 1, to: &impliedLosses)
      }
      guard !byApp.contains(source.name) else { continue }
      add(effects ?? [], position, position + 1, to: &losses)
      // Whoever acknowledged the loss has said that it is no rename. Without a mapping, losses aren't known.
      let open = losses.filter { $0.source.name == source.name && !$0.isAcknowledged }
      guard effects == nil || !open.isEmpty else { continue }
      renames += ModelDifference(from: source.model, to: destination.model).renames.filter { rename in
        effects == nil || open.contains { $0.isOf(rename) }
      }.map { (source, destination, $0) }
    }
    let whole = LossTrail(through: versions.map(\.model), losses: steps)
    for position in versions.indices.dropLast(2)
    where takesLongPaths && !versions[position..<last].contains(where: { byApp.contains($0.name) }) {
      let way = Array(versions[position...])
      let trail = whole.starting(at: position)
      let others = (Self.effects(through: way, mappings) ?? []).filter { effect in
        effect.kind.lossKind.map { trail.causes(of: $0, losing: effect.lossProperty, of: effect.entity).isEmpty }
          ?? false
      }
      add(others, position, last, to: &losses)
    }
    let models = models ?? Set(versions.map(\.name))
    for item in acknowledged {
      if let missing = [item.source, item.destination].first(where: { !models.contains($0) }) {
        if item.losses.contains(where: { $0.kind == nil }) { withoutModel.append((item, missing)) }
        continue
      }
      for entry in item.losses
      where !losses.contains(where: {
        $0.source.name == item.source && $0.destinationName == item.destination && entry.covers($0.name)
          && (entry.kind == nil || entry.kind == $0.effect.kind.lossKind)
      }) && !unknown.contains(item.source) {
        stale.append((entry, item.source, item.destination))
      }
    }
  }

  /// Reviews the step to the current version of a bundle from the one before; nothing if it is the first.
  ///
  /// - Parameter list: The bundle's versions.
  /// - Throws: `ModelReadingError` for a version that can't be read.
  init(ofLastStepIn list: ModelVersionList) throws {
    let end = list.versions.firstIndex { $0.name == list.currentVersionName } ?? 0
    let versions = try list.versions[max(0, end - 1)...end].map { version in
      HistoryCheck.Version(
        name: version.name, model: try version.file.read().model, path: version.file.path,
        file: version.file.editedPath,
        isShipped: version.entry != nil)
    }
    let history = try ModelHistory(list, path: list.versions[end].file.path)
    self.init(
      of: versions, acknowledged: list.lock?.namedAcknowledgements ?? [], mappings: GivenMappings(decidedBy: history),
      byApp: Set(((list.lock?.namedStepsByCode ?? []) + list.stepsByCode).map(\.source)))
  }

  /// Returns the possible losses of a path through versions; `nil` without a mapping, which is reported elsewhere.
  private static func effects(through versions: [HistoryCheck.Version], _ mappings: GivenMappings) -> [DataEffect]? {
    do throws(MappingInferenceError) {
      return try path(through: versions, mappings)?.hops.flatMap { hop in
        hop.mapping.losses(from: hop.source, to: hop.destination, deciding: mappings.decisions)
      } ?? []
    } catch {
      return nil
    }
  }

  /// Returns the path through versions from the first to the last; `nil` if they are the same to stores.
  ///
  /// - Throws: `MappingInferenceError` if there is none.
  static func path(
    through versions: [HistoryCheck.Version], _ mappings: GivenMappings
  ) throws(MappingInferenceError) -> MigrationPath? {
    guard let first = versions.first, let last = versions.last,
      first.model.versionHashes() != last.model.versionHashes()
    else { return nil }
    // As a history has it, a store never migrates to a version with its own hashes.
    let hashes = first.model.versionHashes()
    let between = versions.dropFirst().dropLast().map(\.model).drop { $0.versionHashes() == hashes }
    var configuration = MigrationAssistant.Configuration()
    mappings.add(to: &configuration, from: first.model, to: last.model)
    func path(
      isStepwise: Bool, deciding decided: [MappingModel] = [], byDecidedSteps: Bool = true
    ) throws(MappingInferenceError) -> MigrationPath {
      try MigrationPath(
        from: first.model, to: last.model, between: Array(between), given: configuration.mappings + decided, labels: [],
        isStepwise: isStepwise, isDecided: { byDecidedSteps && !mappings.standing($0, $1).isEmpty }, name: { _ in nil })
    }
    // As an assistant does: what no inference converts, decided expressions may, and steps that are decided come first.
    let decided = zip(versions, versions.dropFirst()).compactMap { earlier, later in
      MappingModel(
        computing: mappings.decisions(earlier.model, later.model), from: earlier.model, to: later.model,
        functions: configuration.policies.evaluatorFunctions)
    }
    if !decided.isEmpty, let found = try? path(isStepwise: false, deciding: decided) { return found }
    do throws(MappingInferenceError) {
      return try path(isStepwise: false)
    } catch {
      if let whole = try? path(isStepwise: false, byDecidedSteps: false) { return whole }
      guard let stepwise = try? path(isStepwise: true) else { throw error }
      return stepwise
    }
  }
}

extension MappingModel {
  /// Returns the possible losses, without the values that go into those of decided expressions.
  fileprivate func losses(
    from source: ManagedObjectModel, to destination: ManagedObjectModel,
    deciding decisions: (ManagedObjectModel, ManagedObjectModel) -> [DataDecision]
  ) -> [DataEffect] {
    let decided = decisions(source, destination)
    let all = decided.filter { $0.isComputed && $0.isAboutNewAttribute(from: source, to: destination) }
    // A value in place of those that an expression refuses replaces what it has read.
    let computed = all.filter { decision in
      !decided.contains { $0.isAtPlace(of: decision) && !$0.isComputed && $0.choice.option == .fill }
    }
    return effects(from: source, to: destination).flatMap { effect -> [DataEffect] in
      guard effect.kind.severity == .loss else { return [] }
      guard effect.kind.lossKind == .values, let property = effect.lossProperty else { return [effect] }
      let heirs = entityMappings.filter {
        $0.sourceEntityName.map { source.isEntity($0, kindOf: effect.entity) } ?? false
      }
      .compactMap(\.destinationEntityName)
      func isReader(_ decision: DataDecision) -> Bool {
        decision.pathKept == property && heirs.allSatisfy { destination.isEntity($0, kindOf: decision.entity) }
      }
      let readers = computed.filter(isReader)
      guard !readers.isEmpty else {
        return effect.kind == .valuesDropped && all.contains(where: isReader)
          ? [DataEffect(kind: .valuesNotTaken, entity: effect.entity, properties: effect.properties, rows: effect.rows)]
          : [effect]
      }
      let type = source.attribute(named: property, of: effect.entity)?.type ?? .undefined
      let rounding = readers.map { $0.rounding(of: type, in: destination) }
      // One that keeps each number is enough.
      return rounding.contains(nil) ? [] : rounding.compactMap(\.self)
    }
  }
}

extension MigrationPath {
  /// The effects on rows that the models tell, hop by hop.
  var effects: [DataEffect] { hops.flatMap { $0.mapping.effects(from: $0.source, to: $0.destination) } }
}

extension LossReview {
  /// The warnings about renames that the models seem to lack, at the later version, where the rename is written.
  var renameFindings: [CheckFinding] {
    renames.map { source, destination, rename in
      CheckFinding(
        severity: .warning, kind: .suspectedRename, version: destination.name, entity: rename.entity,
        property: rename.kind == .entity ? nil : rename.added, file: destination.file,
        message: "\"\(source.name)\" → \"\(destination.name)\": \(rename)")
    }
  }

  /// The acknowledgements that acknowledge nothing.
  var needless: [(loss: VersionLock.Acknowledgement.Loss, source: String, destination: String)] {
    stale + withoutModel.flatMap { item, _ in item.losses.map { ($0, item.source, item.destination) } }
  }

  /// Returns the findings: an error for each unacknowledged loss, and a note for each acknowledged one.
  ///
  /// - Parameters:
  ///   - path: The history, for the command that acknowledges.
  ///   - lockAdvice: The advice on what makes the lock into which that is written; `nil` if there is one.
  /// - Returns: The findings, by version.
  func findings(path: String, lockAdvice: String?) -> [CheckFinding] {
    func consent(to loss: Loss) -> String {
      if let lockAdvice { return "a loss that is meant is acknowledged in lock.json. \(lockAdvice)." }
      return
        "if losing it is meant, heirloom check \(shellWord(path)) --acknowledge \(shellWord(loss.name)) says so for app"
        + " and tool."
    }
    return losses.map { loss in
      let way = "\"\(loss.source.name)\" → \"\(loss.destinationName)\""
      let advice =
        loss.isAcknowledged
        ? "The lock acknowledges it."
        : "Give a mapping that keeps it; \(consent(to: loss))"
      return CheckFinding(
        severity: loss.isAcknowledged ? .note : .error, kind: .loss, version: loss.source.name,
        entity: loss.effect.entity, property: loss.effect.properties.first, file: loss.source.file,
        message: "\(way): \(loss.effect.description) \(advice)")
    }
      + impliedLosses.filter { !$0.isAcknowledged && !stepsByCode.contains($0.source.name) }.map { loss in
        CheckFinding(
          severity: .note, kind: .loss, version: loss.source.name, entity: loss.effect.entity,
          property: loss.effect.properties.first, file: loss.source.file,
          message:
            "\"\(loss.source.name)\" → \"\(loss.destinationName)\": \(loss.effect.description) The app's code may keep it; \(consent(to: loss))"
        )
      } + renameFindings
      + stale.map { item in
        CheckFinding(
          severity: .warning, kind: .staleAcknowledgement, version: item.source, file: path,
          message:
            "\"\(item.source)\" → \"\(item.destination)\": the lock acknowledges that \"\(item.loss.name)\" is lost, and it"
            + " isn't; a later mistake would go unnoticed. heirloom check \(shellWord(path)) --unacknowledge"
            + " \(shellWord(item.loss.name)) takes it out of the lock.")
      }
      + withoutModel.map { item, missing in
        CheckFinding(
          severity: .warning, kind: .acknowledgementWithoutModel, version: item.source, file: path,
          message:
            "\"\(item.source)\" → \"\(item.destination)\": the lock acknowledges that"
            + " \(listText(item.losses.map { "\"\($0.name)\"" })) is lost, but not which kind of loss is meant, and the model of"
            + " \"\(missing)\", which would imply it, is missing: it acknowledges nothing. Bring \"\(missing)\" back, or:"
            + " heirloom check \(shellWord(path))"
            + item.losses.map { " --unacknowledge \(shellWord($0.name))" }.joined())
      }
  }
}
