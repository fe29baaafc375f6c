import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomVault

// No loss is silent: who is asked, who consents, and what happens without consent.
extension MigrationAssistant {
  /// Notes the consents that were given before the plan was made.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - source: The model that made the store.
  func noteConsents(in plan: inout MigrationPlan, of source: IdentifiedModel) {
    guard plan.losses.contains(where: { $0.consent == nil }) else { return }
    let trails = history.lossTrails(
      from: plan.source, named: plan.source == source.model ? source.fittingNames : [], to: plan.destination,
      isInferred: plan.isInferred,
      mapped: plan.mapping.effects(from: plan.source, to: plan.destination))
    plan.consent { loss in trails.allSatisfy { $0.acknowledges(loss) } ? .lock : nil }
  }

  /// Returns what hops after the first may lose and the lock doesn't acknowledge; only the rows can tell.
  func possibleLaterLosses(_ hopPath: HopPath) -> [DataEffect] {
    hopPath.hops.dropFirst().flatMap { hop -> [DataEffect] in
      let effects = hop.mapping.effects(from: hop.source, to: hop.destination).filter { $0.kind.severity == .loss }
      guard !effects.isEmpty else { return [] }
      let trails = history.lossTrails(
        from: hop.source, to: hop.destination, isInferred: hop.isInferred, mapped: effects)
      return effects.filter { effect in !trails.allSatisfy { $0.acknowledges(effect) } }
    }
  }

  /// Applies the configuration's rule for losses that nobody consented to.
  ///
  /// - Throws: ``MigrationAssistantError/lossesNotConsented(storePath:plan:)``.
  func checkConsented(_ plan: inout MigrationPlan) throws(MigrationAssistantError) {
    switch configuration.losses {
    case .keepVersion: break
    case .accept: plan.consent { _ in .configuration }
    case .stop:
      guard plan.unconsentedLosses.isEmpty else { throw .lossesNotConsented(storePath: storeURL.path, plan: plan) }
    }
  }

  /// Asks the delegate for a path that keeps what an inferred mapping would lose.
  ///
  /// It is asked before the lock: what is acknowledged there is what nobody's code keeps.
  ///
  /// - Parameters:
  ///   - hop: A hop.
  ///   - plan: Its plan, with the consents that were given.
  ///   - asked: The hops that the delegate was asked about, so that it is asked once.
  /// - Returns: The hops to use instead; `nil` if nothing is lost, nobody can be asked, or no mapping was given.
  /// - Throws: The delegate's error, or ``MigrationAssistantError`` for a mapping that can't be completed.
  func hopsKeeping(
    _ hop: MigrationHop, plan: MigrationPlan, asked: inout Set<AskedHop>
  ) throws -> [MigrationHop]? {
    let losses = plan.losses.filter { !$0.isOfLog && ($0.consent == nil || $0.consent == .lock) }
    // What stands in the way comes first: until it is settled, nothing is lost.
    guard hop.isInferred, !losses.isEmpty, delegate != nil, asked.insert(AskedHop(hop)).inserted else { return nil }
    return try hopsByAsking(from: hop.source, to: hop.destination) { step in
      let loses = step.effects.contains { $0.kind.severity == .loss }
      return loses ? MappingNeed(step, losses: losses, history) : nil
    } whole: {
      MappingNeed(MappingInference(from: hop.source, to: hop.destination), losses: losses, history)
    }
  }
}

/// A hop that the delegate was asked about.
struct AskedHop: Hashable {
  let source: String
  let destination: String

  init(_ hop: MigrationHop) {
    source = hop.source.versionChecksum()
    destination = hop.destination.versionChecksum()
  }
}

extension SoleContent {
  /// Creates the description of what a loss leaves in the previous version alone.
  init(_ loss: MigrationLoss) {
    self.init(kind: loss.kind.reported.rawValue, entity: loss.entity, property: loss.property, rows: loss.rows)
  }
}
