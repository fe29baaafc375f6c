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
    let url = URL(fileURLWithPath: path)
    do {
      // Whatever the store is like: a record that can't be read also stops what brings a previous version back.
      let moved = try StoreArchive(storeURL: url).repair()?.path
      let store = Result { () throws(StoreError) in try StoreMetadata(contentsOf: url) }
      if moved == nil { _ = try store.get() }
      let line =
        moved.map { "The damaged record is \($0) now: heirloom doctor \(shellWord(path)) says what to run next." }
        ?? "There was nothing to repair beside \(path)."
      return CommandReport(lines: [line], members: [("store", .text(path)), ("movedAside", .optional(moved))])
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }
}
