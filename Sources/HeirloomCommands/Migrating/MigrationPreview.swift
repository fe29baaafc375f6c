import Foundation
import Heirloom

/// A preview of a store's migration, made without changing anything.
final class MigrationPreview {
  /// The inspection of the store.
  let inspection: StoreInspection
  /// The difference between the store's model and the current one; `nil` if the store's model is not known.
  let difference: ModelDifference?
  /// The plan; `nil` if there is nothing to do or none can be made.
  let plan: MigrationPlan?
  /// The failure that a migration would end with.
  let failure: CommandFailure?

  /// Inspects a store and makes the plan.
  ///
  /// - Parameters:
  ///   - path: The store's file.
  ///   - request: The models.
  /// - Throws: `MigrationAssistantError` or `StoreError` for a store about which nothing can be said.
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
      let assistant = request.assistant(for: path)
      let plan = try assistant.plan(correctingNumbers: inspection.hasRowsWithoutNumber)
      if plan != nil, let contradiction = inspection.contradiction {
        throw MigrationAssistantError.failed(storePath: path, contradiction)
      }
      let objection = try plan.flatMap { plan in
        // A migration meets a mount point before it makes a plan.
        try assistant.mountObjection().map { CommandFailure($0).aboutStore(at: path) }
          ?? assistant.objection(to: plan).map { CommandFailure($0, advice: request.advice) }
      }
      (self.plan, failure) = (plan, objection)
    } catch {
      // Without a difference the error is all there is to say.
      guard difference != nil else { throw error }
      (plan, failure) = (nil, CommandFailure(error, advice: request.advice).aboutStore(at: path))
    }
  }

  /// True when the store has the current model.
  var isUpToDate: Bool { plan == nil && failure == nil }
}
