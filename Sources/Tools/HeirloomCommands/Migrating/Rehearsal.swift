import Foundation
import Heirloom

enum Rehearsal {
  /// The copy is removed afterwards; errors refer to the store instead of its copy.
  static func run(
    _ plan: MigrationPlan, onCopyOf path: String, request: MigrationRequest, console: Console
  ) throws -> MigrationReport {
    console.progress.begin("Copying the store")
    return try run(
      on: try StoreClone(of: path, bytesNeeded: plan.bytesNeeded, console: console), of: path, request: request,
      console: console)
  }

  /// With all hops, as carried out on the copy; errors refer to the store instead of it.
  static func whole(
    _ plan: MigrationPlan, rehearsedOn clone: StoreClone, of path: String, request: MigrationRequest, console: Console
  ) throws -> MigrationPlan {
    let report = try run(on: clone, of: path, request: request, console: console)
    return try whole(plan, as: report, of: path, request: request)
  }

  /// Adds the warnings and losses of the files that only the store has beside it.
  static func whole(
    _ plan: MigrationPlan, as report: MigrationReport, of path: String, request: MigrationRequest
  ) throws -> MigrationPlan {
    var rehearsed = report.plan
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
