import Foundation
import Heirloom

/// A migration of a copy of a store.
enum Rehearsal {
  /// Carries a plan out on a copy, which is then removed.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - path: The store's file.
  ///   - request: The models.
  ///   - console: Gives the place of temporary folders and the user's wish to stop.
  /// - Returns: The report on the migration of the copy.
  /// - Throws: The error that keeps the copy from being migrated, in words about the store.
  static func run(
    _ plan: MigrationPlan, onCopyOf path: String, request: MigrationRequest, console: Console
  ) throws -> MigrationReport {
    console.progress.begin("Copying the store")
    return try run(
      on: try StoreClone(of: path, bytesNeeded: plan.bytesNeeded, console: console), of: path, request: request,
      console: console)
  }

  /// Returns a plan with all hops, as they were rehearsed on a copy.
  ///
  /// - Parameters:
  ///   - plan: The plan of the first hop.
  ///   - clone: The copy.
  ///   - path: The store's file.
  ///   - request: The models.
  ///   - console: Gives the user's wish to stop.
  /// - Returns: The plan.
  /// - Throws: The error that keeps the copy from being migrated, in words about the store.
  static func whole(
    _ plan: MigrationPlan, rehearsedOn clone: StoreClone, of path: String, request: MigrationRequest, console: Console
  ) throws -> MigrationPlan {
    let report = try run(on: clone, of: path, request: request, console: console)
    return try whole(plan, as: report, of: path, request: request)
  }

  /// Returns the plan of a rehearsed migration, with what is beside the store and not beside its copy.
  static func whole(
    _ plan: MigrationPlan, as report: MigrationReport, of path: String, request: MigrationRequest
  ) throws -> MigrationPlan {
    var rehearsed = report.plan
    // Files beside the store are not beside its copy.
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
