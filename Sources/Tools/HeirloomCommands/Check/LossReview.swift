import Heirloom
import HeirloomCompare
import HeirloomOutput
import HeirloomSwiftSource

/// Possible losses of a history's migrations, derived from models and mappings alone and compared
/// with the lock.
///
/// A loss belongs to the hop between two successive versions. A loss of a longer path only, such as
/// one with its own mapping model, belongs to the versions at its ends.
struct LossReview {
  struct Loss {
    let source: CheckedHistory.Version
    let destinationName: String
    let effect: DataEffect
    var isAcknowledged: Bool

    var name: String { effect.lossName }

    fileprivate var key: [String] { [name, effect.kind.lossKind?.rawValue ?? ""] }

    /// True if the links are to objects that the rename would keep.
    func isOfLinks(to rename: RenameSuspicion) -> Bool {
      guard rename.kind == .entity, case .foreignLinks(let targets) = effect.kind else { return false }
      return Set(targets).isSubset(of: [rename.removed] + rename.rivals)
    }

    /// True if the suspected rename would avoid the loss.
    func isOf(_ rename: RenameSuspicion) -> Bool {
      let names = [rename.removed] + rename.rivals
      guard rename.kind != .entity else { return names.contains(name) }
      return names.contains(effect.lossProperty ?? "")
        && (source.model.isEntity(effect.entity, kindOf: rename.sourceEntity)
          || source.model.isEntity(rename.sourceEntity, kindOf: effect.entity))
    }
  }

  /// The versions at which the steps start.
  private let stepsByCode: Set<String>
  private(set) var losses: [Loss] = []
  /// Losses that the models imply for steps whose mapping isn't known here; app code may keep the
  /// content.
  private(set) var impliedLosses: [Loss] = []
  /// Acknowledged losses that don't occur.
  private(set) var stale: [(loss: VersionLock.Acknowledgement.Loss, source: String, destination: String)] = []
  /// Acknowledgements without kinds, between versions of which one has no model here.
  private(set) var withoutModel: [(entry: VersionLock.Acknowledgement, missing: String)] = []
  /// Suspected renames at steps with an open loss, by version.
  private(set) var renames: [(source: CheckedHistory.Version, destination: CheckedHistory.Version, RenameSuspicion)] =
    []

  /// `versions` ends with the current one; losses of steps that start at a version in `byApp`
  /// aren't known.
  ///
  /// `takesLongPaths` is false to skip longer paths, whose cost grows with the square of the number
  /// of versions. `models` names all readable versions; `nil` means those in `versions`.
  init(
    of versions: [CheckedHistory.Version], acknowledged: [VersionLock.Acknowledgement], mappings: GivenMappings,
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
      // App code may keep some of the content, so losses of this step and of longer paths across it
      // aren't known.
      steps.append(effects ?? [])
      if effects == nil { unknown.insert(source.name) }
      if unknown.contains(source.name) {
        let inference = MappingInference(from: source.model, to: destination.model)
        let implied = inference.settledEffects.filter { $0.kind.severity == .loss }
        add(implied, position, position + 1, to: &impliedLosses)
      }
      guard !byApp.contains(source.name) else { continue }
      add(effects ?? [], position, position + 1, to: &losses)
      // An acknowledged loss is no rename. Without a mapping, losses aren't known.
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

  /// The step to the current version; empty if that is the first.
  init(ofLastStepIn list: ModelVersionList) throws {
    let end = list.versions.firstIndex { $0.name == list.currentVersionName } ?? 0
    let versions = try list.versions[max(0, end - 1)...end].map { version in
      CheckedHistory.Version(
        name: version.name, model: try version.file.read().model, path: version.file.path,
        file: version.file.editedPath, entry: version.entry)
    }
    let history = try ModelHistory(list, path: list.versions[end].file.path)
    self.init(
      of: versions, acknowledged: list.lock?.namedAcknowledgements ?? [], mappings: GivenMappings(decidedBy: history),
      byApp: Set(((list.lock?.namedStepsByCode ?? []) + list.stepsByCode).map(\.source)))
  }

  /// `nil` without a mapping, which another finding reports.
  private static func effects(through versions: [CheckedHistory.Version], _ mappings: GivenMappings) -> [DataEffect]? {
    do throws(MappingInferenceError) {
      return try path(through: versions, mappings)?.hops.flatMap { hop in
        hop.mapping.losses(from: hop.source, to: hop.destination, deciding: mappings.decisions)
      } ?? []
    } catch {
      return nil
    }
  }

  /// `nil` if the hashes of the first and the last version are equal.
  static func path(
    through versions: [CheckedHistory.Version], _ mappings: GivenMappings
  ) throws(MappingInferenceError) -> MigrationPath? {
    guard let first = versions.first, let last = versions.last,
      first.model.versionHashes() != last.model.versionHashes()
    else { return nil }
    // A store never migrates to a version with its own hashes.
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
    // As in the assistant: decided expressions may convert what inference can't, and decided steps
    // come first.
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
  /// Except losses of values that a decided expression reads.
  fileprivate func losses(
    from source: ManagedObjectModel, to destination: ManagedObjectModel,
    deciding decisions: (ManagedObjectModel, ManagedObjectModel) -> [DataDecision]
  ) -> [DataEffect] {
    let decided = decisions(source, destination)
    let all = decided.filter { $0.isComputed && $0.isAboutNewAttribute(from: source, to: destination) }
    // A filled value for rows that an expression refuses replaces the values it read.
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
      // One reader that keeps each number is enough.
      return rounding.contains(nil) ? [] : rounding.compactMap(\.self)
    }
  }
}

extension MigrationPath {
  var effects: [DataEffect] { hops.flatMap { $0.mapping.effects(from: $0.source, to: $0.destination) } }
}

extension LossReview {
  /// At the later version, where a rename would be declared.
  var renameFindings: [HistoryFinding] {
    renames.map { source, destination, rename in
      HistoryFinding(
        .suspectedRename, .warning, version: destination.name, entity: rename.entity,
        property: rename.kind == .entity ? nil : rename.added, file: destination.file,
        "\"\(source.name)\" → \"\(destination.name)\": \(rename)")
    }
  }

  var needless: [(loss: VersionLock.Acknowledgement.Loss, source: String, destination: String)] {
    stale + withoutModel.flatMap { item, _ in item.losses.map { ($0, item.source, item.destination) } }
  }

  /// `lockAdvice` says how to create a missing lock, and is `nil` if there is one.
  func findings(path: String, lockAdvice: String?) -> [HistoryFinding] {
    func consent(to loss: Loss) -> String {
      if let lockAdvice { return "acknowledge an intended loss in lock.json. \(lockAdvice)." }
      return
        "if losing it is intended, heirloom check \(shellWord(path)) --acknowledge \(shellWord(loss.name)) says so for app"
        + " and tool."
    }
    return losses.map { loss in
      let way = "\"\(loss.source.name)\" → \"\(loss.destinationName)\""
      return HistoryFinding(
        .loss, loss.isAcknowledged ? .note : loss.effect.kind == .objectsLeftOut ? .warning : .error,
        version: loss.source.name,
        entity: loss.effect.entity, property: loss.effect.properties.first, file: loss.source.file,
        "\(way): \(loss.effect.description)\(loss.isAcknowledged ? " The lock acknowledges it." : "")",
        remedy: loss.isAcknowledged ? nil : "Give a mapping that keeps it; \(consent(to: loss))")
    }
      + impliedLosses.filter { !$0.isAcknowledged && !stepsByCode.contains($0.source.name) }.map { loss in
        HistoryFinding(
          .loss, .note, version: loss.source.name, entity: loss.effect.entity,
          property: loss.effect.properties.first, file: loss.source.file,
          "\"\(loss.source.name)\" → \"\(loss.destinationName)\": \(loss.effect.description)",
          remedy: "The app's code may keep it; \(consent(to: loss))")
      } + renameFindings
      + stale.map { item in
        HistoryFinding(
          .staleAcknowledgement, .warning, version: item.source, file: path,
          "\"\(item.source)\" → \"\(item.destination)\": the lock acknowledges that \"\(item.loss.name)\" is lost,"
            + " and it isn't; a later mistake would go unnoticed.",
          remedy:
            "heirloom check \(shellWord(path)) --unacknowledge \(shellWord(item.loss.name)) takes it out of the lock.")
      }
      + withoutModel.map { item, missing in
        HistoryFinding(
          .acknowledgementWithoutModel, .warning, version: item.source, file: path,
          "\"\(item.source)\" → \"\(item.destination)\": the lock acknowledges that"
            + " \(listText(item.losses.map { "\"\($0.name)\"" })) is lost, but not which kind of loss is meant, and the model of"
            + " \"\(missing)\", which would imply it, is missing: it acknowledges nothing.",
          remedy: "Bring \"\(missing)\" back, or: heirloom check \(shellWord(path))"
            + item.losses.map { " --unacknowledge \(shellWord($0.name))" }.joined())
      }
  }
}
