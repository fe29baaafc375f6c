import Foundation
import Heirloom

extension Command {
  /// The command that migrates stores.
  static let migrate = Command(
    name: "migrate", summary: "bring stores to a model; the previous version is kept",
    details: [
      "A store that has the model already is left alone, but for what an earlier run with --defer left to be cleaned up: without"
        + " --defer that is done now. With several stores a failure does not keep the others from being"
        + " migrated; the exit code is that of the first failure.",
      "What would be lost (values, links or objects that are there) stops the migration with exit code 3 unless the history's lock"
        + " acknowledges it (heirloom check --acknowledge) or --accept-losses consents.",
      "Rows that don't fit the new model stop the migration until --decide says what becomes of them; heirloom plan counts"
        + " them and names the choices. newest and merge take an attribute that tells the age, such as merge:date, else the"
        + " highest primary key is the newest; for a constraint on several properties their names are joined by commas."
        + " Rows in quarantine go to a file in STORE.heirloom/quarantine.",
      "heirloom versions STORE lists what is kept, heirloom restore STORE brings it back.",
      "With --jobs or --files-from, one line of JSON a store is written as each is done, in the order in which they are done. A"
        + " run that was stopped or killed is gone on with by the same command: stores that are done are found to be, in about a"
        + " millisecond each. The exit code is the worst of all stores': 130, 7, 1, 5, 3, 4, 0, the worst first.",
    ],
    options: [
      .to.required, .model, .mapping,
      Option(
        name: "--keep", value: "N",
        summary: "previous versions to keep, at least 1 (1 unless given); older ones go with a later run"),
      .decide, .deferring, .acceptLosses, .acceptVersion,
      Option(name: "--jobs", value: "N", summary: "migrate N stores at a time (1 unless given)"),
      Option(
        name: "--files-from", value: "LIST",
        summary: "take further stores from a file with one path a line; - is standard input"),
      Option(name: "--null", summary: "the paths of LIST end with a NUL character, as find -print0 writes them"),
    ],
    example: "heirloom migrate Journal.sqlite --to Journal.xcdatamodeld", positionals: ["STORE"], repeatsLast: true,
    run: MigrateCommand.run)
}

/// A run of the command that migrates stores.
enum MigrateCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let batch = try BatchOptions(arguments)
    let named = try arguments.positionals.map(console.path)
    guard batch != nil || !named.isEmpty else { throw UsageError.missingArgument("STORE") }
    let stores = try batch.map { try $0.stores(besides: named, console: console) }
    var request: MigrationRequest
    do {
      let kept = try keptVersions(arguments)
      request = try MigrationRequest(arguments, console: console)
      if let kept { request.configuration.keptVersions = kept }
    } catch let error as UsageError {
      throw error
    } catch {
      throw CommandFailure(error).aboutStore(at: stores?.first ?? named.first)
    }
    if let batch, let stores {
      return BatchMigration(of: stores, jobs: batch.jobs, request: request, console: console).run()
    }
    var results: [Migrated] = []
    for path in named {
      // The report at the end tells what happened to the stores before.
      let result = Migrated(path, request: request, console: console, mayLeave: named.count == 1)
      results.append(result)
      if result.failure?.exitCode == .cancelled { break }
    }
    if results.count == 1, named.count == 1 { return results[0].report }
    return together(results, of: named, console: console)
  }

  private static func keptVersions(_ arguments: Arguments) throws(UsageError) -> Int? {
    guard let text = arguments.value("--keep") else { return nil }
    guard let count = Int(text), count >= 1 else {
      throw .invalidValue(
        option: "--keep", value: text, expected: "a whole number from 1 on: one version is always kept")
    }
    return count
  }

  /// Reports several stores, with each failure in its place.
  private static func together(_ results: [Migrated], of paths: [String], console: Console) -> CommandReport {
    var report = CommandReport()
    for result in results {
      report.lines += result.report.lines
      for line in result.failure?.lines(console.errorStyle) ?? [] { console.log(line) }
    }
    if results.count < paths.count {
      console.log("note: \(paths.count - results.count) of \(paths.count) stores were not begun")
    }
    let stores = results.map { result in
      OutputValue.object(result.report.members + (result.failure.map { [("error", $0.output)] } ?? []))
    }
    report.members = [("stores", .list(stores))]
    report.failure = results.compactMap(\.failure).first
    report.printsFailure = false
    return report
  }
}

/// The result of one store.
struct Migrated {
  /// The report on the store.
  let report: CommandReport
  /// The reason why the store was not migrated.
  var failure: CommandFailure? { report.failure }

  /// Migrates a store.
  ///
  /// - Parameters:
  ///   - path: The store's file.
  ///   - request: The settings of the migration.
  ///   - console: The surroundings.
  ///   - mayLeave: True if the tool may end at once while nothing was begun.
  init(_ path: String, request: MigrationRequest, console: Console, mayLeave: Bool = false) {
    let start = ContinuousClock.now
    do {
      let migration = StoreMigration(request: request, console: console)
      let outcome = try migration.run(on: path, mayLeave: mayLeave)
      let finished = try migration.cleanUp(after: outcome, at: path)
      var warnings: [String] = []
      if case .noStore = outcome {
      } else {
        warnings += Self.archive(request.history.current, at: path, console: console)
      }
      report = Self.report(
        outcome, finished: finished, path: path, request: request,
        seconds: start.duration(to: .now) / .seconds(1), style: console.style
      )
      .warning(warnings, style: console.style)
    } catch {
      // The report includes the findings behind a refusal, so that a program need not ask for the plan.
      let failure = CommandFailure(error).aboutStore(at: path)
      report = CommandReport(members: [("store", .text(path))] + failure.findings, failure: failure)
    }
  }

  /// Archives the model beside the store, by the second of the two calls; the store is migrated even if this fails.
  private static func archive(_ model: ManagedObjectModel, at path: String, console: Console) -> [String] {
    do {
      try ModelController(storeURL: URL(fileURLWithPath: path)).archive(model)
      return []
    } catch {
      return ["the model was not archived beside the store: \(CommandFailure(error).message) Run again to archive it."]
    }
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
        members: members(path, "upToDate", from: checksum, to: checksum, rows: [], retained: nil, seconds: seconds)
          + [("cleanedUp", .texts(finished.done)), ("deferred", .texts(finished.left))])
    case .setAside(let notice):
      return CommandReport(
        lines: [
          "\(path) was moved aside to \(notice.folderURL.path): \(notice.reason)",
          "heirloom restore \(shellWord(path)) --set-aside \(notice.id) --to MODEL brings it back.",
        ],
        members: members(path, "setAside", from: nil, to: nil, rows: [], retained: nil, seconds: seconds)
          + [("setAside", .text(notice.id))])
    default:
      return CommandReport(
        members: members(path, "noStore", from: nil, to: nil, rows: [], retained: nil, seconds: seconds),
        failure: missing(path, request: request))
    }
  }

  private static func migrated(
    _ report: MigrationReport, path: String, request: MigrationRequest, style: TextStyle
  ) -> CommandReport {
    let text = PlanText(plan: report.plan)
    let name = request.history.currentName
    var lines = ["\(style.bold(path)) was migrated to \"\(name)\" in \(durationText(report.seconds))."]
    lines += text.findings(style, difference: nil).dropFirst()
    lines += report.quarantine.map { "Rows in quarantine: \($0.path)" }
    let deferred = report.plan.lastDeferred.items
    if !deferred.isEmpty {
      lines.append("Left to be cleaned up by a run without --defer: \(listText(deferred, limit: 6)).")
    }
    lines += PlanText.rowLines(report.plan.rows)
    lines += [
      "The previous version is kept as \(report.retained.id) (\(sizeText(report.retained.byteCount))):"
        + " heirloom restore \(shellWord(path)) brings it back."
    ]
    return CommandReport(
      lines: lines,
      members: members(
        path, "migrated", from: report.sourceChecksum, to: report.destinationChecksum, rows: report.plan.rows,
        retained: report.retained.id, seconds: report.seconds)
        + [
          ("decisions", .list(report.plan.allDecisions.map(\.output))), ("deferred", .texts(deferred)),
          ("quarantine", .texts(report.quarantine.map(\.path))), ("pinned", .boolean(report.retained.isPinned)),
          ("warnings", .texts(([report.plan] + report.plan.following).flatMap(\.warnings))),
        ] + PlanText.lossMembers(of: report.plan))
  }

  private static func members(
    _ path: String, _ outcome: String, from: String?, to: String?, rows: [EntityRows], retained: String?,
    seconds: Double
  ) -> OutputMembers {
    let rows = rows.map { row in
      OutputValue.object([
        ("entity", .text(row.entity)), ("before", .optional(row.before)), ("after", .optional(row.after)),
      ])
    }
    return [
      ("store", .text(path)), ("outcome", .text(outcome)), ("from", .optional(from)), ("to", .optional(to)),
      ("rows", .list(rows)), ("retained", .optional(retained)), ("seconds", .number(seconds)),
    ]
  }

  /// Returns the failure for a missing store: an app would start anew, but a person has mistyped or lost it.
  private static func missing(_ path: String, request: MigrationRequest) -> CommandFailure {
    var failure = CommandFailure(StoreError(path: path, problem: .missing))
    let versions = (try? request.assistant(for: path).previousVersions()) ?? []
    if let newest = versions.first {
      failure.suggestion =
        "The store is gone, but \(counted(Int64(versions.count), "version")) of it are kept: heirloom restore"
        + " \(shellWord(path)) brings back the newest, \(newest.id)."
    }
    return failure
  }
}

extension CommandReport {
  /// Returns the same report with warnings at its end.
  fileprivate func warning(_ warnings: [String], style: TextStyle) -> CommandReport {
    var report = self
    report.lines += warnings.map { "\(style.yellow("note:")) \($0)" }
    report.members.add(warnings, to: "warnings")
    return report
  }
}
