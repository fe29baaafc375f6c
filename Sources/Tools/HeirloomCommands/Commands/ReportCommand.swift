import Foundation
import Heirloom
import HeirloomCompare
import HeirloomDiagram
import HeirloomOutput
import HeirloomSupport

extension Command {
  static let report = Command(
    name: "report",
    summary: "one page for others to read: plan, losses, what changes as a picture, time; nothing is changed",
    details: [
      "The findings of heirloom doctor are in it. The page is one file that loads nothing and needs no script; no value of"
        + " any row is in it. The exit code is 0 whatever the plan says. An earlier report is replaced, any other file is left alone."
    ],
    options: [
      .to.required, .with,
      Option(name: "--output", value: "FILE", isRequired: true, summary: "the page to write; its name ends in .html"),
      Option(name: "--rehearse", summary: "rehearse the migration on a copy, and report its duration"),
      Option(name: "--full-paths", summary: "name files by their whole paths; otherwise the page names no folder"),
      .model, .exclude, .mapping, .decide, .deferring, .acceptLosses, .acceptVersion,
    ],
    example: "heirloom report Journal.sqlite --to Journal.xcdatamodeld --output report.html", positionals: ["STORE"],
    requiredCount: 1, run: ReportCommand.run)
}

enum ReportCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let store = try console.path(arguments.positionals[0])
    let output = try console.outputPath(arguments.required("--output", "FILE"))
    guard ["html", "htm"].contains((output as NSString).pathExtension.lowercased()) else {
      throw UsageError.invalidValue(option: "--output", value: output, expected: "a name that ends in .html")
    }
    do {
      return try write(aboutStoreAt: store, to: output, arguments, console)
    } catch let error as UsageError {
      throw error
    } catch {
      throw CommandFailure(error).aboutStore(at: store)
    }
  }

  private static func write(
    aboutStoreAt store: String, to output: String, _ arguments: Arguments, _ console: Console
  ) throws -> CommandReport {
    let request = try MigrationRequest(arguments, console: console)
    let preview = try MigrationPreview(of: store, for: request)
    preview.countAllHops(request, console)
    let (to, models) = (try [arguments.required("--to", "MODEL")] + arguments.all("--with"), arguments.all("--model"))
    let check = try console.reading("Checking the store", store) {
      try StoreCheck(of: store, models: preview.inspection.origin == .file ? to + models : models, console: console)
    }
    let files =
      try [store, check.vault.location.path, output] + (to + models + arguments.all("--mapping")).map(console.path)
    let folders = Set(files.map { PathText.split($0).folder } + [console.currentDirectory]).filter { $0.count > 1 }
    let report = MigrationPage(
      of: StoreFacts(preview.inspection, check),
      difference: preview.difference.map { DifferenceText($0, storeAt: preview.inspection.path) }, plan: preview.plan,
      failure: preview.failure.map(MigrationPage.Failure.init), destinationName: request.history.currentName,
      rehearsal: arguments.has("--rehearse") ? try rehearsal(preview, request, console) : .none, date: Date(),
      hiddenFolders: arguments.has("--full-paths") ? [] : Array(folders))
    let isNew = try OutputFile(path: output, mark: MigrationPage.mark).write(report.file)
    let plan = report.plan
    return CommandReport(
      lines: ["\(output) was \(isNew ? "written" : "rewritten"). Nothing was changed in the store."],
      members: [
        ("path", .text(output)), ("verdict", .optional(preview.difference?.verdict.rawValue)),
        ("losses", .integer(Int64(plan?.losses.count ?? 0))),
        ("blockers", .integer(Int64(plan?.blockers.count ?? 0))), ("seconds", seconds(report.rehearsal)),
      ])
  }

  private static func rehearsal(
    _ preview: MigrationPreview, _ request: MigrationRequest, _ console: Console
  ) throws -> MigrationPage.Rehearsal {
    guard preview.failure == nil, let plan = preview.plan else { return .none }
    do {
      return .passed(
        try Rehearsal.run(plan, onCopyOf: preview.inspection.path, request: request, console: console))
    } catch {
      let failure = CommandFailure(error)
      // A cancelled command writes no page.
      if failure.exitCode == .cancelled { throw failure }
      return .failed(MigrationPage.Failure(failure))
    }
  }

  private static func seconds(_ rehearsal: MigrationPage.Rehearsal) -> OutputValue {
    if case .passed(let report) = rehearsal { return .number(report.seconds) }
    return .null
  }
}

extension StoreFacts {
  fileprivate init(_ inspection: StoreInspection, _ check: StoreCheck) {
    let origin: String? =
      switch inspection.origin {
      case .snapshot: "its model is in the snapshot beside it"
      case .cache: "its model is in the store"
      case .file, .none: nil
      }
    self.init(
      path: inspection.path, versionName: inspection.versionName, origin: origin,
      configuration: inspection.configuration,
      entityCount: inspection.entities.count, rowCount: inspection.rowCount, deferred: inspection.deferred,
      notes: inspection.notes, findingCounts: check.countWords,
      findings: check.report.findings.filter { $0.severity < .note }.map { finding in
        (
          finding.severity == .error,
          (finding.entity.map { "\($0): " } ?? "") + finding.text(path: inspection.path, models: check.neededModels)
        )
      })
  }
}

extension MigrationPage.Failure {
  fileprivate init(_ failure: CommandFailure) {
    self.init(message: failure.message, suggestion: failure.help)
  }
}
