import Foundation
import Heirloom

extension Command {
  /// Brings a previous version back.
  static let restore = Command(
    name: "restore", usage: "STORE [--version ID]", summary: "put a retained version back; the store there is kept too",
    details: ["Without --version the newest is restored. The start of an ID is enough where it is the only one."],
    options: [Option(name: "--version", value: "ID", summary: "the version, as heirloom versions names it")],
    example: "heirloom restore Journal.sqlite --version 20261121T1015", positionals: ["STORE"], requiredCount: 1,
    run: RestoreCommand.run)
}

/// Brings a previous version back.
enum RestoreCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = console.path(arguments.positionals[0])
    do {
      let keeper = try StoreKeeper(path: path)
      _ = try keeper.versions()
      let result = try keeper.restore(arguments.value("--version"))
      var lines = ["\(console.style.green("Restored")) \(result.restored.id) as \(path)."]
      if let retained = result.retained {
        lines.append(
          "The store that was there is kept as \(retained.id): heirloom restore \(shellWord(path)) --version"
            + " \(retained.id) brings it back.")
      }
      return CommandReport(
        lines: lines,
        members: [("restored", .text(result.restored.id)), ("retained", .optional(result.retained?.id))])
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }
}
