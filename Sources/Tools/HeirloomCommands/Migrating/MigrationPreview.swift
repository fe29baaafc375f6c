import Foundation
import Heirloom
import HeirloomCompare

final class MigrationPreview {
  let inspection: StoreInspection
  /// `nil` if the store's model is unknown.
  let difference: ModelDifference?
  /// `nil` if the store is up to date or no plan can be made.
  private(set) var plan: MigrationPlan?
  /// The failure that a migration would end with.
  private(set) var failure: CommandFailure?

  /// Throws only if the store can't even be compared with the current model.
  init(of path: String, for request: MigrationRequest) throws {
    let history = request.history
    let inspection = try StoreInspection(at: path) { history.versions(withHashes: $0) }
    self.inspection = inspection
    guard inspection.metadata.versionHashes != history.currentHashes else {
      difference = ModelDifference(from: inspection.model ?? history.current, to: history.current)
      (plan, failure) = (nil, nil)
      return
    }
    difference = inspection.model.map { ModelDifference(from: $0, to: history.current) }
    do {
      let assistant = request.assistant(for: path, correctsNumbers: inspection.hasRowsWithoutNumber)
      let plan = try assistant.plan()
      if plan != nil, let contradiction = inspection.contradiction {
        throw MigrationAssistantError.failed(storePath: path, contradiction)
      }
      let objection = try plan.flatMap { plan in
        // A migration fails at a mount point before it makes a plan.
        try assistant.mountOrLinkObjection().map { CommandFailure($0).aboutStore(at: path) }
          ?? assistant.objection(to: plan).map { CommandFailure($0, advice: request.advice) }
      }
      (self.plan, failure) = (plan, objection)
    } catch {
      // Without a difference, only the error can be reported.
      guard difference != nil else { throw error }
      (plan, failure) = (nil, CommandFailure(error, advice: request.advice).aboutStore(at: path))
    }
  }

  /// Without room for a copy, the plan of the first hop stays, with a warning.
  func countAllHops(_ request: MigrationRequest, _ console: Console) {
    guard let plan, plan.hopCount > 1, failure == nil || asksForConsent else { return }
    let path = inspection.path
    do {
      let clone = try StoreClone(of: path, bytesNeeded: plan.bytesNeeded, console: console)
      if failure == nil {
        do {
          self.plan = try Rehearsal.whole(plan, rehearsedOn: clone, of: path, request: request, console: console)
        } catch {
          let failure = CommandFailure(error, advice: request.advice).aboutStore(at: path)
          // The plan at which the rehearsal stopped has the losses and blockers of a later hop.
          (self.plan, self.failure) = (failure.plan, failure)
        }
      }
      guard asksForConsent else { return }
      // The copy is migrated without consent, to count the losses of all hops.
      var accepting = request
      accepting.configuration.losses = .accept
      let whole = try? Rehearsal.whole(plan, rehearsedOn: clone, of: path, request: accepting, console: console)
      if let whole { self.plan = whole.withoutConsent(by: .configuration) }
    } catch {
      self.plan?.warnings.append(
        "Only the first of \(plan.hopCount) steps is counted: no copy could be made for the others"
          + " (\(ErrorWords.clause("\(error)"))).")
    }
  }

  private var asksForConsent: Bool { failure?.code == "lossesNotConsented" }

  var isUpToDate: Bool { plan == nil && failure == nil }
}
