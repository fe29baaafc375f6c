import Foundation
import Heirloom
import HeirloomCompare
import HeirloomOutput

extension Command {
  static let plan = Command(
    name: "plan", summary: "what stays, what is lost, what to decide, time, steps; nothing is changed",
    details: [
      "The exit code is the one that heirloom migrate would end with: 3 where a mapping or a decision about rows is needed,"
        + " 5 for a store of an unknown version that would lose something and for one of a newer version. Where a store takes"
        + " several steps, they are carried out on a copy, so that the rows of all are counted."
    ],
    options: [
      .to.required, .with, .model, .exclude, .mapping,
      Option(name: "--sql", summary: "show the statements of the steps"),
      Option(name: "--account", summary: "show everything in the store, and where it goes"),
      .decide, .deferring, .acceptLosses, .acceptVersion,
    ],
    example: "heirloom plan Journal.sqlite --to Journal.xcdatamodeld", positionals: ["STORE"], requiredCount: 1,
    run: PlanCommand.run)
}

enum PlanCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    var request: MigrationRequest?
    do {
      let given = try MigrationRequest(arguments, console: console)
      request = given
      let preview = try console.reading("Planning", path) { try MigrationPreview(of: path, for: given) }
      preview.countAllHops(given, console)
      var report = report(preview, request: given, showsSQL: arguments.has("--sql"), style: console.style)
      if let accounts = given.accounts {
        let account = AccountText(accounts) { given.history.name(of: $0) }
        report.members = report.members + account.members
        if !arguments.has("--sql") { report.lines += account.lines(console.style) }
      }
      return report
    } catch let error as UsageError {
      throw error
    } catch {
      throw CommandFailure(error, advice: request?.advice).aboutStore(at: path)
    }
  }

  static func report(
    _ preview: MigrationPreview, request: MigrationRequest, showsSQL: Bool, style: TextStyle
  ) -> CommandReport {
    let text = preview.difference.map { DifferenceText($0, storeAt: preview.inspection.path) }
    var report = CommandReport(
      members: members(of: preview, request) + PlanText.members(of: preview.plan, showsSQL: showsSQL),
      failure: preview.failure)
    // The report's lines list these items already, except those of given mappings and custom
    // stages.
    let isToldAbove = preview.failure?.code == "mappingNeeded" && preview.difference?.obstacles.isEmpty == false
    if preview.plan != nil || isToldAbove { report.failure?.list?.items = [] }
    report.lines = headline(preview, request: request, style: style)
    guard let plan = preview.plan else {
      // A store below the floor is refused whatever is decided.
      if preview.failure?.code != "belowFloor" { report.lines += text?.lines(style) ?? [] }
      return report
    }
    let planText = PlanText(plan: plan)
    if showsSQL {
      report.lines = []
      report.source = planText.sql
      return report
    }
    report.lines += planText.findings(style, difference: text) + [""] + planText.costs(style)
    report.lines += ["Nothing was changed."] + plan.hops.flatMap { PlanText(plan: $0).steps(style) }
    return report
  }

  static func members(of preview: MigrationPreview, _ request: MigrationRequest) -> OutputMembers {
    [("fromName", .optional(preview.inspection.versionName)), ("toName", .text(request.history.currentName))]
      + (preview.difference.map { DifferenceText($0, storeAt: preview.inspection.path).members } ?? [])
  }

  static func headline(_ preview: MigrationPreview, request: MigrationRequest, style: TextStyle) -> [String] {
    let name = style.bold(preview.inspection.path)
    if preview.isUpToDate {
      let left = preview.inspection.deferred
      let words = left.isEmpty ? "" : " but to clean up what a deferred migration left: \(listText(left, limit: 4))"
      return ["\(name) has the model \"\(request.history.currentName)\": nothing to do\(words)."]
    }
    let checksum = ManagedObjectModel.versionChecksum(of: preview.inspection.metadata.versionHashes)
    let version =
      preview.inspection.versionName.map { "\"\($0)\"" }
      ?? "the unknown version \(VersionLabel(nil, checksum: checksum).words)"
    let source =
      switch preview.inspection.origin {
      case .cache: " (its model is in the store)"
      case .snapshot: " (its model is in the snapshot beside it)"
      case .file, .none: ""
      }
    let words = preview.difference.map { ": \(verdict(on: $0, plan: preview.plan))" } ?? ""
    return ["\(name): from \(version)\(source) to \"\(request.history.currentName)\"\(words)"]
  }

  private static func verdict(on difference: ModelDifference, plan: MigrationPlan?) -> String {
    guard difference.verdict == .needsMapping, let plan else { return difference.verdict.rawValue }
    return plan.hopCount > 1 ? "in \(plan.hopCount) hops" : "by a given mapping or a decision"
  }
}
