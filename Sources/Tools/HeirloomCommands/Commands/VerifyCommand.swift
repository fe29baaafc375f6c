import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSupport

extension Command {
  static let verify = Command(
    name: "verify",
    summary: "integrity, and drift of the real schema and rows from the model",
    details: [
      "Checks the file, the metadata, tables, columns and indexes against the model that made the store, every row's entity,"
        + " keys and values, files of external data, and the files kept beside the store. The model is the snapshot beside the"
        + " store, one of those given by --model, or the store's own copy: one that fits its version hashes, of several as"
        + " heirloom inspect finds it.",
      "Nothing is written and no lock is taken. The exit code is 6 when there is a finding of the severity error (data are lost"
        + " or out of reach, or an app or a migration would go wrong) or warning (something doesn't fit, all data are there);"
        + " notes alone leave it at 0.",
    ],
    options: [.model, .exclude], example: "heirloom verify Journal.sqlite", positionals: ["STORE"], requiredCount: 1,
    run: VerifyCommand.run)
}

enum VerifyCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    do {
      let check = try console.reading("Checking the store", path) {
        try StoreCheck(of: path, models: arguments.all("--model"), console: console)
      }
      let style = console.style
      var lines = ["\(style.bold(path)): \(check.countWords), compared with \(check.modelWords ?? "no model")."]
      lines += check.report.findings.map { $0.line(style, path: path, models: check.neededModels) }
      return CommandReport(
        lines: lines,
        members: [
          ("findings", check.output), ("modelSource", .text(check.sourceCode)),
          ("modelFits", .boolean(check.report.isModelFit)),
        ], failure: check.failure, printsFailure: false)
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }
}
