import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSupport

extension Command {
  static let repair = Command(
    name: "repair", summary: "correct entity numbers, keys, names and missing indexes, and set a damaged record aside",
    details: [
      "A damaged record of an unfinished operation, which stops every migration, gets another name beside the store,"
        + " and so does the record of a store that is missing because a restoration over it failed. An unfinished"
        + " operation is recovered, as a migration does first.",
      "In a copy of the store, a row whose entity number doesn't belong to its table becomes an object of the only entity that the"
        + " table can hold; if several are possible, it stays as it is. The entity number beside a key becomes that of the"
        + " object with the key, and the highest key that was assigned at least the highest that exists. In the list of"
        + " entities, a missing row, a wrong parent, and a wrong name that rows or other names prove to be wrong are"
        + " corrected from the model; a missing index is created, unless it is unique and rows are equal. Nothing else"
        + " is changed; the copy takes the store's place, and the store as it was is kept as a previous version. The model is"
        + " found as by heirloom verify.",
      "If there is nothing to repair, nothing is changed, and other faults are listed with the next command. heirloom doctor lists faults and changes nothing.",
    ], options: [.model, .exclude], example: "heirloom repair Journal.sqlite", positionals: ["STORE"], requiredCount: 1,
    run: RepairCommand.run)
}

enum RepairCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    let url = URL(fileURLWithPath: path)
    do {
      try StoreReading.checkLog(besideStoreAt: path)
      // Done even for a damaged store: an unreadable record also blocks restoring a previous
      // version.
      let moved = try StoreArchive(storeURL: url).repair()?.path
      let store = Result { () throws(StoreError) in try StoreMetadata(contentsOf: url) }
      if moved == nil { _ = try store.get() }
      var lines = moved.map { ["The record of the unfinished operation is \($0) now."] } ?? []
      // An unreadable store may still have a previous version.
      let repaired = try (try? store.get()).flatMap { _ in
        try StoreRepair(of: path, models: arguments.all("--model"), console: console).run()
      }
      if let repaired {
        lines.append("\(console.style.bold(path)) was repaired:")
        lines += repaired.words.map { "  \($0)" }
        lines.append(
          "The store as it was is kept as \(repaired.previous.id): heirloom restore \(shellWord(path)) brings it back.")
      }
      lines +=
        lines.isEmpty
        ? try unrepaired(path, arguments, console)
        : [
          "heirloom doctor \(shellWord(path)) says what to run next."
        ]
      return CommandReport(
        lines: lines,
        members: [
          ("store", .text(path)), ("movedAside", .optional(moved)), ("repaired", .texts(repaired?.words ?? [])),
          ("retained", .optional(repaired?.previous.id)),
        ])
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }

  private static func unrepaired(_ path: String, _ arguments: Arguments, _ console: Console) throws -> [String] {
    let diagnosis = try StoreDiagnosis(of: path, models: arguments.all("--model"), console: console)
    let faults = (diagnosis.check?.report.findings ?? []).filter { $0.severity < .note }
    guard !faults.isEmpty else { return ["There was nothing to repair at \(path)."] }
    return ["No repair corrects the faults of \(path), which was not changed:"]
      + faults.map { $0.line(console.style) } + [diagnosis.line(of: diagnosis.next, console.style)]
  }
}
