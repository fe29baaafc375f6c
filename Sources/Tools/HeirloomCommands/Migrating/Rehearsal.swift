import Foundation
import Heirloom

/// A migration of a copy of a store.
enum Rehearsal {
  /// Carries a plan out on a copy, which is removed afterwards.
  ///
  /// Errors refer to the store instead of its copy.
  static func run(
    _ plan: MigrationPlan, onCopyOf path: String, request: MigrationRequest, console: Console
  ) throws -> MigrationReport {
    console.progress.begin("Copying the store")
    return try run(
      on: try StoreClone(of: path, bytesNeeded: plan.bytesNeeded, console: console), of: path, request: request,
      console: console)
  }

  /// Returns the plan with all hops, as carried out on the copy.
  ///
  /// Errors refer to the store instead of its copy.
  static func whole(
    _ plan: MigrationPlan, rehearsedOn clone: StoreClone, of path: String, request: MigrationRequest, console: Console
  ) throws -> MigrationPlan {
    let report = try run(on: clone, of: path, request: request, console: console)
    return try whole(plan, as: report, of: path, request: request)
  }

  /// Returns the plan of a rehearsal, with warnings and losses of the files that only the store has beside it.
  static func whole(
    _ plan: MigrationPlan, as report: MigrationReport, of path: String, request: MigrationRequest
  ) throws -> MigrationPlan {
    var rehearsed = report.plan
    // The copy lacks the files beside the store.
    let assistant = request.assistant(for: path)
    rehearsed.warnings += try assistant.placeWarnings()
    rehearsed.add(try assistant.fileLosses(), consented: plan.losses)
    return rehearsed
  }

  private static func run(
    on clone: StoreClone, of path: String, request: MigrationRequest, console: Console
  ) throws -> MigrationReport {
    let migration = StoreMigration(request: request, console: console)
    do {
      guard case .migrated(let report) = try migration.run(on: clone.path, mayLeave: false) else {
        throw CommandFailure(
          exitCode: .failed, code: "failed",
          message: "The copy of \(path) was not migrated: another process was quicker.",
          suggestion: "Nothing was changed. Run again.", storeAt: path)
      }
      return report
    } catch {
      throw clone.translate(error, advice: request.advice)
    }
  }
}
