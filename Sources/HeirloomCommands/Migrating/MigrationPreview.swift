import Foundation
import Heirloom

/// What would happen if a store were migrated, found out without changing anything.
struct MigrationPreview {
  /// The store.
  let look: StoreLook
  /// What differs between its model and the current one; `nil` if its model is not known.
  let difference: ModelDifference?
  /// The plan; `nil` if there is nothing to do or none can be made.
  let plan: MigrationPlan?
  /// What a migration would fail with.
  let failure: CommandFailure?

  /// Looks at a store and makes the plan.
  ///
  /// - Parameters:
  ///   - path: The store's file.
  ///   - request: The models.
  /// - Throws: `MigrationAssistantError` or `StoreError` for a store of which nothing can be said.
  init(of path: String, for request: MigrationRequest) throws {
    let history = request.history
    let look = try StoreLook(at: path) { history.versions(withHashes: $0) }
    self.look = look
    guard look.metadata.versionHashes != history.currentHashes else {
      difference = ModelDifference(from: look.model ?? history.current, to: history.current)
      (plan, failure) = (nil, nil)
      return
    }
    difference = look.model.map { ModelDifference(from: $0, to: history.current) }
    do {
      let plan = try request.assistant(for: path).plan()
      if plan != nil, let contradiction = look.contradiction {
        throw MigrationAssistantError.failed(storePath: path, contradiction)
      }
      self.plan = plan
      failure = plan.flatMap { Self.objection(to: $0, look: look, request: request) }
    } catch {
      // Without a difference the error is all there is to say.
      guard difference != nil else { throw error }
      (plan, failure) = (nil, CommandFailure(error).aboutStore(at: path))
    }
  }

  /// Whether the store has the current model.
  var isUpToDate: Bool { plan == nil && failure == nil }

  /// What the assistant would refuse, by its own rules.
  private static func objection(
    to plan: MigrationPlan, look: StoreLook, request: MigrationRequest
  ) -> CommandFailure? {
    let configuration = request.configuration
    if look.origin == .cache, plan.losses.contains(where: { $0.consent != .decision && $0.consent != .lock }),
      !configuration.migratesUnknownVersions
    {
      return CommandFailure(MigrationAssistantError.unknownVersion(storePath: look.path, plan: plan))
    }
    if !plan.blockers.isEmpty {
      return CommandFailure(MigrationAssistantError.decisionNeeded(storePath: look.path, plan: plan))
    }
    guard configuration.losses == .stop, !plan.unconsentedLosses.isEmpty else { return nil }
    return CommandFailure(MigrationAssistantError.lossesNotConsented(storePath: look.path, plan: plan))
  }
}
