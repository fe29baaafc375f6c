import Foundation
import Heirloom
import HeirloomOutput

extension Command {
  static let migrate = Command(
    name: "migrate", summary: "bring stores to a model; the previous version is kept",
    details: [
      "A store that already has the model isn't changed, except that clean-up which an earlier run with --defer left is done now"
        + " unless --defer is given again. With several stores a failure does not keep the others from being"
        + " migrated; the exit code is that of the first failure.",
      "A loss of existing values, links or objects stops the migration with exit code 3 unless the history's lock"
        + " acknowledges it (heirloom check --acknowledge) or --accept-losses consents.",
      "Rows that don't fit the new model stop the migration until --decide says what becomes of them; heirloom plan counts"
        + " them and names the choices. newest and merge take an attribute to order rows by age, such as merge:date; otherwise the"
        + " highest primary key is the newest; for a constraint on several properties their names are joined by commas."
        + " Rows in quarantine go to a file in STORE.heirloom/quarantine.",
      "heirloom versions STORE lists what is kept, heirloom restore STORE brings it back.",
      "With --jobs or --files-from, one line of JSON per store is written, in order of completion. An"
        + " interrupted run is continued by the same command: stores that are done are recognized in about a"
        + " millisecond each. The exit code is the worst of all stores': 130, 7, 1, 5, 3, 4, 0, the worst first.",
    ],
    options: [
      .to.required, .with, .model, .exclude, .mapping,
      Option(
        name: "--keep", value: "N",
        summary: "previous versions to keep, at least 1 (1 unless given); a later run removes older ones"),
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
      // Earlier stores are reported at the end.
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

  private static func together(_ results: [Migrated], of paths: [String], console: Console) -> CommandReport {
    var report = CommandReport()
    for result in results {
      report.lines += result.report.lines
      for line in result.failure?.lines(console.errorStyle) ?? [] { console.log(line) }
    }
    if results.count < paths.count {
      let count = Int64(paths.count - results.count)
      console.log("note: \(count) of \(counted(Int64(paths.count), "store")) \(verb("were", count)) not begun")
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
