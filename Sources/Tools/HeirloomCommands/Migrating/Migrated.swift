import Foundation
import Heirloom
import HeirloomOutput

struct Migrated {
  let report: CommandReport
  var failure: CommandFailure? { report.failure }

  /// With `mayLeave`, the process may end at once while nothing has begun.
  init(_ path: String, request: MigrationRequest, console: Console, mayLeave: Bool = false) {
    let start = ContinuousClock.now
    do {
      let migration = StoreMigration(request: request, console: console)
      let outcome = try migration.run(on: path, mayLeave: mayLeave)
      let finished = try migration.cleanUp(after: outcome, at: path)
      var warnings: [String] = []
      if case .noStore = outcome {
      } else {
        warnings += Self.archiveModel(of: request, at: path)
      }
      if case .upToDate = outcome { warnings += Self.unreadLog(besideStoreAt: path) }
      report = Self.report(
        outcome, finished: finished, path: path, request: request,
        seconds: start.duration(to: .now) / .seconds(1), style: console.style
      )
      .warning(warnings, style: console.style)
    } catch {
      // The findings are part of the JSON, so a program need not run plan as well.
      let failure = CommandFailure(error, advice: request.advice).aboutStore(at: path)
      report = CommandReport(members: [("store", .text(path))] + failure.findings, failure: failure)
    }
  }

  /// A failure is only a warning, because the store is migrated.
  private static func archiveModel(of request: MigrationRequest, at path: String) -> [String] {
    do {
      // With `--accept-version`, the order of the versions isn't known.
      let controller =
        request.configuration.migratesUnknownVersions
        ? ModelController(storeURL: URL(fileURLWithPath: path)) : request.assistant(for: path).modelController
      try controller.archive(request.history.current)
      return []
    } catch {
      return ["the model was not archived beside the store: \(CommandFailure(error).message) Run again to archive it."]
    }
  }

  /// About a `-wal` that SQLite can't read completely, which would have stopped a migration.
  private static func unreadLog(besideStoreAt path: String) -> [String] {
    let location = try? StoreLocation(resolving: path, files: POSIXFileOperations())
    guard let damage = try? location.flatMap({ try StoreVault($0).logDamage() }), damage.lostCount > 0 else {
      return []
    }
    return ["\(damage.description) heirloom doctor \(shellWord(path)) names the command that reads them."]
  }

  private static func report(
    _ outcome: MigrationOutcome, finished: CleanUp, path: String, request: MigrationRequest, seconds: Double,
    style: TextStyle
  ) -> CommandReport {
    switch outcome {
    case .migrated(let report):
      return migrated(report, path: path, request: request, style: style)
    case .upToDate:
      let checksum = request.history.current.versionChecksum()
      return CommandReport(
        lines: ["\(path) has the model \"\(request.history.currentName)\": \(finished.words)"],
        members: members(
          path, "upToDate", from: (checksum, request.history.currentName), to: (checksum, request.history.currentName),
          rows: [], previous: nil, seconds: seconds)
          + [("cleanedUp", .texts(finished.done)), ("deferred", .texts(finished.left))])
    default:
      return CommandReport(
        members: members(path, "noStore", from: nil, to: nil, rows: [], previous: nil, seconds: seconds),
        failure: CommandFailure(StoreError(path: path, problem: .missing)).aboutStore(at: path))
    }
  }

  private static func migrated(
    _ report: MigrationReport, path: String, request: MigrationRequest, style: TextStyle
  ) -> CommandReport {
    let text = PlanText(plan: report.plan)
    let name = request.history.currentName
    let source = VersionLabel(report.previousVersion.versionName, checksum: report.sourceChecksum)
    var lines = [
      "\(style.bold(path)) was migrated to \"\(name)\" from \(source.words) in \(durationText(report.seconds))."
    ]
    lines += text.findings(style, difference: nil) + [""]
    lines += report.quarantine.map { "Rows in quarantine: \($0.path)" }
    let deferred = report.plan.deferred.items
    if !deferred.isEmpty {
      lines.append("Left to be cleaned up by a run without --defer: \(listText(deferred, limit: 6)).")
    }
    lines += [
      "The previous version is kept as \(report.previousVersion.id) (\(sizeText(report.previousVersion.byteCount))):"
        + " heirloom restore \(shellWord(path)) brings it back."
    ]
    return CommandReport(
      lines: lines,
      members: members(
        path, "migrated", from: (source.checksum, source.name), to: (report.destinationChecksum, name),
        rows: report.plan.rowsOfAllHops,
        previous: report.previousVersion.id, seconds: report.seconds)
        + [
          ("decisions", .list(report.plan.decisions.map(\.output))), ("deferred", .texts(deferred)),
          ("quarantine", .texts(report.quarantine.map(\.path))), ("pinned", .boolean(report.previousVersion.isPinned)),
          ("warnings", .texts(report.plan.hops.flatMap(\.warnings))),
        ] + PlanText.lossMembers(of: report.plan))
  }

  private static func members(
    _ path: String, _ outcome: String, from: (checksum: String?, name: String?)?,
    to: (checksum: String?, name: String?)?, rows: [EntityRows], previous: String?, seconds: Double
  ) -> OutputMembers {
    let rows = rows.map { row in
      OutputValue.object([
        ("entity", .text(row.entity)), ("before", .optional(row.before)), ("after", .optional(row.after)),
      ])
    }
    return [
      ("store", .text(path)), ("outcome", .text(outcome)), ("from", .optional(from?.checksum)),
      ("fromName", .optional(from?.name)), ("to", .optional(to?.checksum)), ("toName", .optional(to?.name)),
      ("rows", .list(rows)), ("retained", .optional(previous)), ("seconds", .number(seconds)),
    ]
  }
}

extension CommandReport {
  fileprivate func warning(_ warnings: [String], style: TextStyle) -> CommandReport {
    var report = self
    report.lines += warnings.map { "\(style.yellow("note:")) \($0)" }
    report.members.add(warnings, to: "warnings")
    return report
  }
}
