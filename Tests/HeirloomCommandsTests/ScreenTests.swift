import Foundation
import Heirloom
import HeirloomCommands
import HeirloomOutput
import HeirloomStore
import TestSupport
import Testing

/// The main screens, as a person sees them on a terminal of 80 columns without colours.
///
/// The files in `Screens` are for reading: anything that looks wrong there is wrong. `RECORD_SNAPSHOTS=1` writes them.
struct ScreenTests {
  struct Screen: Sendable, CustomTestStringConvertible {
    let name: String
    let arguments: [String]
    var columns = 80

    init(_ name: String, _ arguments: String..., columns: Int = 80) {
      self.name = name
      self.arguments = arguments
      self.columns = columns
    }

    var testDescription: String { name }
  }

  private static let screens: [Screen] = [
    Screen("help", "help"), Screen("help-narrow", "help", columns: 40), Screen("no-command"),
    Screen("inspect-store", "inspect", "Done.sqlite"), Screen("inspect-model", "inspect", "Done.xcdatamodeld"),
    Screen("inspect-log", "inspect", "Done.xcdatamodeld", "--from-log", "crash.txt"),
    Screen("inspect-swift", "inspect", "Chat"), Screen("check-swift", "check", "Trips"),
    Screen("freeze", "freeze", "Trips", "--output", "Released/TripsV3.swift", "--history", "Released"),
    Screen("compare", "compare", "Done.sqlite", "Done.xcdatamodeld"),
    Screen("plan", "plan", "Done.sqlite", "--to", "Done.xcdatamodeld"),
    Screen("doctor", "doctor", "Done.sqlite"), Screen("verify", "verify", "Done.sqlite"),
    Screen("versions-none", "versions", "Done.sqlite"), Screen("versions", "versions", "Migrated.sqlite"),
    Screen("doctor-migrated", "doctor", "Migrated.sqlite"), Screen("verify-damaged", "verify", "Damaged.sqlite"),
    Screen("up-to-date", "migrate", "Migrated.sqlite", "--to", "Done.xcdatamodeld"),
    Screen("error-command", "migrat", "Done.sqlite"), Screen("error-help-topic", "help", "nonsense"),
    Screen("error-argument", "migrate"), Screen("error-option", "plan", "Done.sqlite", "--tow", "Done.xcdatamodeld"),
    Screen("error-no-file", "migrate", "Dome.sqlite", "--to", "Done.xcdatamodeld"),
    Screen("error-no-store", "inspect", "notes.txt"),
    Screen("error-no-model", "plan", "Done.sqlite", "--to", "notes.txt"),
  ]

  /// The screens whose lines are as wide as their words.
  private static let wide: [Screen] = [
    Screen("properties", "inspect", "Done.sqlite", "--properties"),
    Screen("two-hops", "plan", "Done.sqlite", "--to", "Done.xcdatamodeld", "--sql"),
    Screen("rehearse", "rehearse", "Done.sqlite", "--to", "Done.xcdatamodeld"),
    Screen("back", "plan", "Migrated.sqlite", "--to", "Done.xcdatamodeld/Done.xcdatamodel"),
    Screen("history", "history", "Done.xcdatamodeld"), Screen("check", "check", "Done.xcdatamodeld"),
    Screen("unknown-restore", "restore", "Migrated.sqlite", "--version", "1999"),
    Screen("spaces", "doctor", "A name with spaces.sqlite"),
    Screen("snapshot", "compare", "Done.sqlite", "Done.xcdatamodeld", "--skeleton"),
  ]

  private static let commands: [Screen] = {
    let json = try? Tool(directory: Tool.snapshots)("help", "--json").json()
    let names = (json?["commands"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
    return names.map { Screen("help-\($0)", "help", $0) }
  }()

  private static let folder = Result { () throws -> TemporaryDirectory in
    let directory = try TemporaryDirectory()
    let models = Tool.snapshots.appendingPathComponent("Done/Done.xcdatamodeld")
    try FileManager.default.copyItem(at: models, to: directory.file("Done.xcdatamodeld"))
    let history = try ModelHistory(contentsOf: models)
    let first = try #require(try history.model(named: "Done"))
    for name in ["Done", "Migrated", "Damaged", "A name with spaces"] {
      try StoreGenerator.makeStore(at: directory.file("\(name).sqlite"), model: first, objects: 1200, seed: 5)
      let store = try PersistentStore.open(at: directory.file("\(name).sqlite"), model: first)
      try StoreModelCache.write(first, to: store.connection)
      if name == "Damaged" {
        try store.connection.execute("UPDATE ZITEM SET Z_ENT = 77 WHERE Z_PK = (SELECT max(Z_PK) FROM ZITEM)")
      }
      try store.close()
    }
    try ChatSource.write(in: directory.file("Chat"))
    try TripSource.write(in: directory.file("Trips"))
    try FileManager.default.createDirectory(at: directory.file("Released"), withIntermediateDirectories: true)
    #expect(
      Tool(directory: directory.url)("freeze", "Trips", "--output", "Released/TripsV3.swift", "--history", "Released")
        .code
        == 0)
    try Data("Dear diary,\n".utf8).write(to: directory.file("notes.txt"))
    try writeLog(of: history, in: directory)
    let migrated = Tool(directory: directory.url)("migrate", "Migrated.sqlite", "--to", "Done.xcdatamodeld")
    #expect(migrated.code == 0, "\(migrated.error)")
    return directory
  }

  /// Writes what Core Data prints of a store whose version is a mixture, and of the model that it was given.
  private static func writeLog(of history: ModelHistory, in directory: TemporaryDirectory) throws {
    var hashes = history.current.versionHashes().mapValues(\.bytes)
    hashes["Item"] = try #require(try history.model(named: "Done")).versionHashes()["Item"]?.bytes
    hashes["List"]?[0] ^= 1
    let model = try #require(try history.model(named: "Done 2")).versionHashes().sorted { $0.key < $1.key }
    let text =
      "CoreData: annotation: Incompatible version schema for persistent store '/Done.sqlite'.  store metadata = "
      + HashDialect.metadata(PrintedHashes(hashes: hashes, identifiers: ["Done"]), indent: 0, HashDialect.newData)
      + " and current model versions = {\n"
      + model.map { "    \($0.key) = \(HashDialect.newData($0.value.bytes));\n" }.joined() + "}\n"
    try Data(text.utf8).write(to: directory.file("crash.txt"))
  }

  @Test(arguments: screens + commands)
  func `the screens are as they were when somebody looked at them`(screen: Screen) throws {
    let directory = try Self.folder.get()
    var tool = Tool(directory: directory.url)
    tool.columns = screen.columns
    let outcome = tool.run(screen.arguments)
    var text = "$ " + (["heirloom"] + screen.arguments).joined(separator: " ") + "\n" + outcome.output + outcome.error
    if outcome.code != 0 { text += "(exit code \(outcome.code))\n" }
    text = text.replacingOccurrences(of: directory.url.path, with: "/home/ada")
    // These texts differ from run to run and from machine to machine.
    text.replace(/\d{8}T\d{6}Z?-[0-9a-f]{8}/, with: "20261121T101500Z-1a2b3c4d")
    text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "2026-11-21T10:15:00Z")
    text.replace(/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/, with: "5D0A1B2C-0000-4000-8000-1234567890AB")
    text.replace(/\d+\.\d\d s/, with: "0.12 s")
    text.replace(/\d+\.\d (kB|MB|GB)/) { match in "12.3 \(match.1)" }
    // A terminal breaks the lines with the paths of this person, not those of this machine.
    let console = Console(
      writeOutput: { _ in }, writeError: { _ in }, currentDirectory: "", columns: { screen.columns })
    text = text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { console.fitted(String($0)) }
      .joined(separator: "\n")
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "Screens/\(screen.name).txt")
    if let complaint = try TextSnapshot.complaint(about: text, file: file) { Issue.record("\(complaint)") }
  }

  @Test(.slow("each screen at three widths"), arguments: screens + commands + wide, [40, 80, 200])
  func `no line is wider than the terminal, and none says anything else`(screen: Screen, columns: Int) throws {
    var tool = Tool(directory: try Self.folder.get().url)
    (tool.columns, tool.isTerminal) = (columns, true)
    let shown = tool.run(screen.arguments)
    tool.environment = ["NO_COLOR": "1"]
    let plain = tool.run(screen.arguments)
    let isSource =
      screen.arguments.contains("--sql") || screen.arguments.contains("--skeleton") || screen.name == "freeze"
    for text in [shown.output + shown.error, plain.output + plain.error] where !isSource {
      for line in text.split(separator: "\n") {
        let line = line.replacing(/\u{1B}\[\d+m/, with: "")
        guard TextLayout.width(of: String(line)) > columns else { continue }
        // One word, a command to copy, or a path with spaces has no place to break.
        let rest = line.trimmingCharacters(in: .whitespaces)
        let isCommand = rest.wholeMatch(of: /heirloom [a-z-]+( (--[a-z-]+|[A-Z]+|\S*[\/.0-9]\S*|'.*'))+/) != nil
        #expect(
          !rest.contains(" ") || isCommand || rest.hasPrefix("/") && rest.contains("A name with spaces"), "\(line)")
      }
    }
    // Nothing but white space differs from what a pipe gets, and help is laid out by itself.
    guard !screen.arguments.isEmpty, screen.arguments[0] != "help" else { return }
    tool.isTerminal = false
    let piped = tool.run(screen.arguments)
    func words(_ text: String) -> [Substring] {
      text.replacing(/\d+\.\d\d s/, with: "0.12 s").split(whereSeparator: \.isWhitespace)
    }
    #expect(words(plain.output + plain.error) == words(piped.output + piped.error))
  }

  @Test func `every file of a screen is that of a screen`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Screens")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(files).subtracting((Self.screens + Self.commands).map { $0.name + ".txt" }).isEmpty)
  }
}
