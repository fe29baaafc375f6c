import Foundation
import Heirloom
import HeirloomOutput

extension Command {
  static let rehearse = Command(
    name: "rehearse", summary: "the whole migration on a clone; the store is untouched",
    details: [
      "The result is proven as in a migration, and the time is reported. The clone is made in a temporary folder (TMPDIR names another place for it) and removed at the end. Other processes"
        + " may have the store open meanwhile."
    ],
    options: [.to.required, .with, .model, .exclude, .mapping, .decide, .deferring, .acceptLosses, .acceptVersion],
    example: "heirloom rehearse Journal.sqlite --to Journal.xcdatamodeld", positionals: ["STORE"], requiredCount: 1,
    run: RehearseCommand.run)
}

enum RehearseCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    var request: MigrationRequest?
    do {
      let given = try MigrationRequest(arguments, console: console)
      request = given
      return try rehearse(path, request: given, console: console)
    } catch let error as UsageError {
      throw error
    } catch {
      throw CommandFailure(error, advice: request?.advice).aboutStore(at: path)
    }
  }

  private static func rehearse(
    _ path: String, request: MigrationRequest, console: Console
  ) throws -> CommandReport {
    let style = console.style
    let preview = try console.reading("Planning", path) { try MigrationPreview(of: path, for: request) }
    // A migration that the plan refuses needs no copy.
    guard preview.failure == nil, let plan = preview.plan else {
      return PlanCommand.report(preview, request: request, showsSQL: false, style: style)
    }
    let report = try Rehearsal.run(plan, onCopyOf: path, request: request, console: console)
    let rehearsed = try Rehearsal.whole(plan, as: report, of: path, request: request)
    let text = PlanText(plan: rehearsed)
    var lines = PlanCommand.headline(preview, request: request, style: style)
    let difference = preview.difference.map { DifferenceText($0, storeAt: path) }
    lines += text.findings(style, difference: difference)
    lines += [
      "",
      "\(style.green("Rehearsed")) on a copy: \(counted(report.plan.rowsRewritten, "row")) in"
        + " \(durationText(report.seconds)), the proof passed. The copy is removed, the store is untouched.",
    ]
    lines += LaunchTime(report.plan, seconds: report.seconds).words.map { "\(style.yellow("!")) \($0)" }
    return CommandReport(
      lines: lines,
      members: PlanCommand.members(of: preview, request) + PlanText.members(of: rehearsed, seconds: report.seconds))
  }
}
