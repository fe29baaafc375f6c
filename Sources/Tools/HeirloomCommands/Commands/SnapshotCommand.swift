import Foundation
import Heirloom
import HeirloomOutput

extension Command {
  static let snapshot = Command(
    name: "snapshot",
    usage: "MODEL [--output FILE | --history DIRECTORY [--before VERSION]] [--date DATE] [--exclude FOLDER]…",
    summary: "write a model as JSON, for version control or another machine",
    details: [
      "MODEL is a model of any kind, or a store, whose own model is used. The file is <version>.json in the"
        + " current folder unless --output names another; a name that ends in .gz is compressed.",
      "A file that holds the same version is brought up to date, any other is left alone. Equal models give equal files: the"
        + " time that is noted is 1970-01-01 unless --date says another.",
      "With --history, the version was shipped: its snapshot is written into the folder, and lock.json fixes it as the last one;"
        + " heirloom check compares the version with the lock. All versions before it by name that are not fixed yet are fixed with it, in"
        + " order; it says which. A version that was never shipped has to be removed from the model before that. One that was"
        + " shipped and is missing in the order is put in its place with --before: MODEL is then the path of that version. A version"
        + " that was edited after it was fixed is refused, and so is one whose XML was not read completely. In a folder of several bundles each has a lock of its own,"
        + " BUNDLE.lock.json, and no snapshots.",
    ],
    options: [
      .exclude,
      Option(name: "--output", value: "FILE", summary: "the file to write"),
      Option(name: "--history", value: "DIRECTORY", summary: "fix the version as shipped, in this folder"),
      Option(
        name: "--before", value: "VERSION",
        summary: "with --history: put this one version before a fixed one in the order, and fix no other"),
      Option(name: "--date", value: "DATE", summary: "the time that is noted, such as 2026-11-21T10:15:00Z"),
    ],
    example: "heirloom snapshot Journal.xcdatamodeld --output Snapshots/Journal.json", positionals: ["MODEL"],
    requiredCount: 1, run: SnapshotCommand.run)
}

enum SnapshotCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let date = try date(arguments)
    let source = try console.path(arguments.positionals[0])
    if let folder = arguments.value("--history") {
      guard arguments.value("--output") == nil else { throw UsageError.repeatedOption("--output or --history") }
      var history = try SnapshotHistory(at: console.path(folder), for: source, console: console)
      return try history.add(before: arguments.value("--before"), date: date)
    }
    guard arguments.value("--before") == nil else { throw UsageError.missingOption("--history", value: "DIRECTORY") }
    let named = try NamedModel(at: source, console: console)
    for warning in named.warnings { console.log("note: \(warning)") }
    let output = try console.outputPath(arguments.value("--output") ?? SnapshotExport.fileName(named.name))
    let snapshot = ModelSnapshot(model: named.model, archivedAt: date)
    let isNew = try SnapshotExport.write(snapshot, to: output)
    let verb = isNew ? "was written" : "holds the model already and was left as it is"
    return CommandReport(
      lines: ["\(output) \(verb).", "  version   \"\(named.name)\"", "  checksum  \(snapshot.versionChecksum)"],
      members: [("path", .text(output)), ("versionChecksum", .text(snapshot.versionChecksum))])
  }

  private static func date(_ arguments: Arguments) throws(UsageError) -> Date {
    guard let text = arguments.value("--date") else { return Date(timeIntervalSince1970: 0) }
    guard let date = Date(written: text) else {
      throw .invalidValue(option: "--date", value: text, expected: "a date, such as \(Date.writtenExamples)")
    }
    return date
  }
}
