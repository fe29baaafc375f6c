import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSupport

extension Command {
  static let doctor = Command(
    name: "doctor", usage: "STORE [--model MODEL]… [--exclude FOLDER]… [--archive FILE [--include-store]]",
    summary: "one screen: a store's state, previous versions, next command",
    details: [
      "Runs the checks of heirloom verify and shows the worst findings in brief. Nothing is written and no lock is taken; for a store"
        + " that is missing or can't be read, previous versions are searched. The exit code is 0 even if there are findings; if there is no file, and"
        + " nothing is kept of one, the path is wrong, and the exit code is 1.",
      "--archive writes a .tar.gz for a support mail: a description of the store and its faults, without values of rows."
        + " It works on a store that is damaged, missing or in use. --include-store adds the store itself, with all data.",
    ],
    options: [
      .model, .exclude,
      Option(name: "--archive", value: "FILE", summary: "write a diagnostics archive, which must not exist yet"),
      Option(name: "--include-store", summary: "put the store itself, with all its data, into the archive"),
    ], example: "heirloom doctor Journal.sqlite", positionals: ["STORE"], requiredCount: 1,
    run: DoctorCommand.run)
}

enum DoctorCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    if let archive = arguments.value("--archive") {
      return try writeArchive(
        console.outputPath(archive, option: "--archive"), of: path, includesStore: arguments.has("--include-store"),
        models: arguments.all("--model"), console: console)
    }
    guard !arguments.has("--include-store") else { throw UsageError.missingOption("--archive", value: "FILE") }
    do {
      return try console.reading("Checking the store", path) {
        try StoreDiagnosis(of: path, models: arguments.all("--model"), console: console).report(console.style)
      }
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }

  private static func writeArchive(
    _ archive: String, of path: String, includesStore: Bool, models: [String], console: Console
  ) throws -> CommandReport {
    console.progress.begin("Writing the archive")
    do {
      let known = try models.flatMap { try NamedModel.all(at: console.path($0), console: console) }
      let url = URL(fileURLWithPath: path)
      // Only the app knows the current model; without it, the archive describes just the store.
      let history = ModelHistory.unknown.adding(known.map { (name: $0.name, model: $0.model) })
        .trusting(Set(known.filter(\.isGiven).map(\.name)))
      let store = StoreArchive(storeURL: url, history: history)
      try store.makeDiagnosticsArchive(at: URL(fileURLWithPath: archive), includeStore: includesStore)
      let waiting = includesStore ? try store.waitingCount() : 0
      let stores =
        waiting == 0
        ? "the store and all of its data"
        : "the store, \(counted(waiting, "store")) that \(waiting == 1 ? "was" : "were") set aside, and all of their data"
      return CommandReport(
        lines: [
          "\(console.style.green("Wrote")) \(archive), "
            + (includesStore ? "WITH \(stores)." : "without a value of any row.")
        ],
        members: [("archive", .text(archive)), ("includesStore", .boolean(includesStore))])
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }
}

extension StoreArchive {
  fileprivate func waitingCount() throws(MigrationAssistantError) -> Int64 {
    try setAsideStores().reduce(0) { count, store in
      if case .putBack = store.state { count } else { count + 1 }
    }
  }
}
