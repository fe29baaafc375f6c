import Foundation
import Heirloom
import HeirloomOutput

extension Command {
  /// The command that sets a damaged record of an unfinished operation aside.
  static let repair = Command(
    name: "repair", summary: "set a damaged record of an unfinished operation aside, which stops every migration",
    details: [
      "The store, its previous versions and the record itself are kept: the record gets another name beside them. What an"
        + " operation left unfinished is settled as a migration does first. Where nothing is damaged, that is all that happens."
        + " heirloom doctor says what is wrong, and changes nothing."
    ], example: "heirloom repair Journal.sqlite", positionals: ["STORE"], requiredCount: 1, run: RepairCommand.run)
}

/// A run of the command that sets a damaged record of an unfinished operation aside.
enum RepairCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    do {
      let metadata = try StoreMetadata(contentsOf: URL(fileURLWithPath: path))
      let url = URL(fileURLWithPath: path)
      let assistant = MigrationAssistant(
        storeURL: url, modelController: ModelController(storeURL: url),
        history: ModelHistory(current: try ManagedObjectModel(entities: [])))
      let checksum = ManagedObjectModel.versionChecksum(of: metadata.versionHashes)
      let moved = try assistant.repair()?.path
      let line =
        moved.map {
          "The damaged record is \($0) now. The store has the version \(checksum): heirloom migrate goes on from it."
        } ?? "There was nothing to repair beside \(path)."
      return CommandReport(
        lines: [line],
        members: [("store", .text(path)), ("versionChecksum", .text(checksum)), ("movedAside", .optional(moved))])
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }
}
