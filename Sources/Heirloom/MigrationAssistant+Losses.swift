import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomVault

// Losses: consents, the rule for losses without consent, and asking the delegate.
extension MigrationAssistant {
  /// Records the consents to a plan's losses that are known without asking.
  ///
  /// A loss by a decision has its consent from the account. For the others the first of these counts: the consent to
  /// an equal loss in `approved`, the lock, the configuration.
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

  /// Returns the losses that hops after the first may cause and the lock doesn't acknowledge.
  ///
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

  /// Throws for losses without consent, if the configuration stops at them.
  func checkConsented(_ plan: MigrationPlan) throws(MigrationAssistantError) {
    guard configuration.losses == .stop, !plan.unconsentedLosses.isEmpty else { return }
    throw .lossesNotConsented(storePath: storeURL.path, plan: plan)
  }

  /// Asks the delegate for a path that keeps content that an inferred mapping would lose.
  ///
  /// The delegate is also asked about losses that the lock or the configuration accepts: they cover what code doesn't
  /// keep. Each hop is asked about once. Returns the hops to use instead; `nil` if nothing is lost, there is no
  /// delegate, or it gave no mapping.
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
  /// Describes the content of a loss, which only the previous version will hold.
  init(_ loss: MigrationLoss) {
    self.init(kind: loss.kind.reported.rawValue, entity: loss.entity, property: loss.property, rows: loss.rows)
  }
}
