import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomVault

extension MigrationAssistant {
  /// A loss by a decision has its consent already; for others the first counts: the consent to an
  /// equal loss in `approved`, the lock, the configuration.
  func recordConsents(in plan: inout MigrationPlan, of source: IdentifiedModel, approved: [MigrationLoss] = []) {
    plan.consent { loss in approved.first { $0.isSame(as: loss) }?.consent }
    recordLock(in: &plan, of: source)
    if configuration.losses == .accept { plan.consent { _ in .configuration } }
  }

  private func recordLock(in plan: inout MigrationPlan, of source: IdentifiedModel) {
    guard plan.losses.contains(where: { $0.consent == nil }) else { return }
    let trails = history.lossTrails(
      from: plan.source, named: plan.source == source.model ? source.fittingNames : [], to: plan.destination,
      isInferred: plan.isInferred,
      mapped: plan.mapping.effects(from: plan.source, to: plan.destination))
    plan.consent { loss in trails.allSatisfy { $0.acknowledges(loss) } ? .lock : nil }
  }

  /// They occur only if a store has such rows.
  func possibleLaterLosses(_ hopPath: PlannedPath) -> [DataEffect] {
    hopPath.hops.dropFirst().flatMap { hop -> [DataEffect] in
      let effects = hop.mapping.effects(from: hop.source, to: hop.destination).filter { $0.kind.severity == .loss }
      guard !effects.isEmpty else { return [] }
      let trails = history.lossTrails(
        from: hop.source, to: hop.destination, isInferred: hop.isInferred, mapped: effects)
      return effects.filter { effect in !trails.allSatisfy { $0.acknowledges(effect) } }
    }
  }

  func checkConsented(_ plan: MigrationPlan) throws(MigrationAssistantError) {
    guard configuration.losses == .stop, !plan.unconsentedLosses.isEmpty else { return }
    throw .lossesNotConsented(storePath: storeURL.path, plan: plan)
  }

  /// Also asks about losses that the lock or the configuration accepts: they cover what code
  /// doesn't keep.
  func hopsKeeping(
    _ hop: MigrationHop, plan: MigrationPlan, asked: inout Set<HopQuestion>
  ) throws -> [MigrationHop]? {
    let losses = plan.losses.filter { !$0.isOfLog && $0.consent != .decision && $0.consent != .delegate }
    // The delegate was asked about obstacles before, and a hop by its mapping is not inferred.
    guard hop.isInferred, !losses.isEmpty, delegate != nil, asked.insert(HopQuestion(hop)).inserted else { return nil }
    return try hopsByAsking(from: hop.source, to: hop.destination) { step in
      let loses = step.effects.contains { $0.kind.severity == .loss }
      return loses ? MappingNeed(step, losses: losses, history) : nil
    } whole: {
      MappingNeed(MappingInference(from: hop.source, to: hop.destination), losses: losses, history)
    }
  }
}

struct HopQuestion: Hashable {
  let source: String
  let destination: String

  init(_ hop: MigrationHop) {
    source = hop.source.versionChecksum()
    destination = hop.destination.versionChecksum()
  }
}

extension SoleContent {
  init(_ loss: MigrationLoss) {
    self.init(kind: loss.kind.reported.rawValue, entity: loss.entity, property: loss.property, rows: loss.rows)
  }
}
