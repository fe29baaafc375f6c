import Foundation
import HeirloomCommands
import HeirloomFuzzing
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// Something that a person who may write to the store's folder has put beside a store.
struct PlantedAttack: CustomTestStringConvertible, Sendable {
  /// `foreign` is somebody else's folder, which nothing may reach.
  struct Place {
    let store: URL
    let foreign: URL
    let letter: URL

    var companion: String { store.path + ".heirloom" }
    var support: String { store.deletingLastPathComponent().appendingPathComponent(".Done_SUPPORT").path }
  }

  let testDescription: String
  /// True when somebody else's file got a name in the store's folder, so that it may get more names there.
  var givesNames = false
  let plant: @Sendable (Place) throws -> Void

  init(_ name: String, givesNames: Bool = false, _ plant: @escaping @Sendable (Place) throws -> Void) {
    (testDescription, self.givesNames, self.plant) = (name, givesNames, plant)
  }

  private static func link(_ path: String, to target: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }

  private static func pipe(_ path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? FileManager.default.removeItem(atPath: path)
    try #require(mkfifo(path, 0o666) == 0)
  }

  /// A version that nobody kept, whose description is right except for its content.
  private static func forge(_ place: Place, _ make: (String) throws -> Void) throws {
    let identifier = "0123456789abcdef0123456789abcdef"
    let folder = place.companion + "/previous/" + VersionName(time: 4_102_444_800, identifier: identifier).text
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try make(folder + "/Done.sqlite")
    let manifest = PreviousVersionManifest(
      identifier: identifier, time: 4_102_444_800, storeName: "Done.sqlite", storeByteCount: 10, supportFileCount: 0,
      supportByteCount: 0, versionChecksum: nil, generation: nil, mode: .rollback)
    try Data(manifest.encoded()).write(to: URL(fileURLWithPath: folder + "/manifest.json"))
  }

  private static func log(_ place: Place, damagedAt offset: Int) throws {
    let connection = try Connection(path: place.store.path, mode: .readWrite, options: .inspecting)
    _ = try connection.firstValue("PRAGMA journal_mode=WAL")
    try connection.execute("UPDATE ZITEM SET Z_OPT = Z_OPT + 1")
    try connection.close()
    let url = URL(fileURLWithPath: place.store.path + "-wal")
    var bytes = [UInt8](try Data(contentsOf: url))
    bytes[offset] ^= 1
    try Data(bytes).write(to: url)
  }

  static let all: [PlantedAttack] =
    PlantedJournal.allCases.map { journal in
      PlantedAttack("journal: \(journal.rawValue)") {
        try journal.plant(besideStoreAt: $0.store, foreign: $0.letter)
        // A list that it may name is not part of what must stay unchanged.
        try? FileManager.default.removeItem(at: $0.foreign.appendingPathComponent("kept"))
      }
    } + [
      PlantedAttack("log: damaged header") { try log($0, damagedAt: 13) },
      PlantedAttack("log: damaged frame") { try log($0, damagedAt: 600) },
      PlantedAttack("companion: a link") { try link($0.companion, to: $0.foreign.path) },
      PlantedAttack("companion: a pipe") { try pipe($0.companion) },
      PlantedAttack("lock: a pipe") { try pipe($0.companion + "/lock") },
      PlantedAttack("lock: a link") { try link($0.companion + "/lock", to: $0.letter.path) },
      PlantedAttack("snapshot: a link") { try link($0.companion + "/model.json.gz", to: $0.letter.path) },
      PlantedAttack("record: a pipe") { try pipe($0.companion + "/manifest.json") },
      PlantedAttack("record: a link") { try link($0.companion + "/manifest.json", to: $0.letter.path) },
      PlantedAttack("record: removes the store's folder") { place in
        try FileManager.default.createDirectory(atPath: place.companion, withIntermediateDirectories: true)
        let identifier = "0123456789abcdef0123456789abcdef"
        let record = VaultManifest(
          identifier: identifier, operation: .migration, storeName: "../../letter.txt",
          keptFolder: VersionName(time: 1, identifier: identifier).text, oldGeneration: nil, newGeneration: nil, time: 1
        )
        try Data(record.encoded()).write(to: URL(fileURLWithPath: place.companion + "/manifest.json"))
      },
      PlantedAttack("previous: a link") { try link($0.companion + "/previous", to: $0.foreign.path) },
      PlantedAttack("incoming: a link") { try link($0.companion + "/incoming", to: $0.foreign.path) },
      PlantedAttack("incoming: a candidate that is a link") {
        try link($0.companion + "/incoming/0123456789abcdef0123456789abcdef", to: $0.foreign.path)
      },
      PlantedAttack("version: a link") { place in try forge(place) { try link($0, to: place.letter.path) } },
      PlantedAttack("version: another file's name", givesNames: true) { place in
        try forge(place) { try #require(Foundation.link(place.letter.path, $0) == 0) }
      },
      PlantedAttack("version: external data are a link") { place in
        try forge(place) { path in
          try FileManager.default.copyItem(atPath: place.store.path, toPath: path)
          let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
          try link(folder + "/.Done_SUPPORT/_EXTERNAL_DATA", to: place.foreign.path)
        }
      },
      PlantedAttack("external data: a link to a folder") { try link($0.support, to: $0.foreign.path) },
      PlantedAttack("external data: an inner link to a folder") {
        try link($0.support + "/_EXTERNAL_DATA", to: $0.foreign.path)
      },
      PlantedAttack("external data: a link to a file") {
        try link($0.support + "/_EXTERNAL_DATA/A", to: $0.letter.path)
      },
      PlantedAttack("external data: another file's name", givesNames: true) { place in
        let folder = place.support + "/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(Foundation.link(place.letter.path, folder + "/A") == 0)
      },
      PlantedAttack("external data: a pipe") { try pipe($0.support + "/_EXTERNAL_DATA/A") },
      PlantedAttack("external data: 200 folders deep") {
        try FileManager.default.createDirectory(
          atPath: $0.support + "/_EXTERNAL_DATA" + String(repeating: "/d", count: 200),
          withIntermediateDirectories: true)
      },
    ]
}

/// Each attack with each command, by root and by a user of a shared folder.
@Suite(.serialized)
struct AttackTableTests {
  static let commands = [
    "inspect", "doctor", "verify", "versions", "plan", "rehearse", "migrate", "restore", "salvage",
  ]
  enum Actor: String, CaseIterable, Sendable {
    case root
    case user = "user in a shared folder"
  }

  static let cells: [(PlantedAttack, Actor)] = {
    let all = PlantedAttack.all.flatMap { attack in Actor.allCases.map { (attack, $0) } }
    // The stride is odd, so that both actors have their turns.
    let step = LongTests.areOn ? 1 : 13
    return stride(from: 0, to: all.count, by: step).map { all[$0] }
  }()

  private static let attacker: uid_t = 54_321

  @Test(
    .enabled(
      if: geteuid() == 0 && PlainUser.isPossible,
      "no root, or a plain user can't reach the tool: nobody else can plant what is tried here"), arguments: cells)
  func `whatever lies beside the store, nobody else's file is reached and no row is lost`(
    _ attack: PlantedAttack, _ actor: Actor
  ) throws {
    var row: [String] = []
    for command in Self.commands { row.append(try cell(attack, command, actor)) }
    if LongTests.areOn { print("| \(attack.testDescription) | \(actor.rawValue) | \(row.joined(separator: " | ")) |") }
  }

  /// Returns the exit code, for the table.
  private func cell(_ attack: PlantedAttack, _ command: String, _ actor: Actor) throws -> String {
    let directory = try TemporaryDirectory()
    #expect(chmod(directory.url.path, 0o755) == 0)
    let folder = directory.file("shared")
    let foreign = directory.file("private")
    for url in [folder, foreign] {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }
    let place = PlantedAttack.Place(
      store: folder.appendingPathComponent("Done.sqlite"), foreign: foreign,
      letter: foreign.appendingPathComponent("letter.txt"))
    try HostileSchema.makeStore(at: place.store)
    try Data("dear diary".utf8).write(to: place.letter)
    #expect(chmod(place.letter.path, 0o600) == 0)
    try attack.plant(place)
    // The store is the user's, the planted files are the attacker's, and the folder is everybody's.
    let names = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
    for name in names where name != "Done.sqlite" {
      let path = folder.appendingPathComponent(name).path
      var status = stat()
      guard lstat(path, &status) == 0, status.st_nlink == 1 || status.st_mode & S_IFMT == S_IFDIR else { continue }
      _ = lchown(path, name == "Done.sqlite-wal" ? PlainUser.identifier : Self.attacker, 0)
    }
    #expect(chown(place.store.path, PlainUser.identifier, PlainUser.identifier) == 0)
    #expect(chmod(folder.path, 0o1777) == 0)
    let before = Self.picture(foreign.path)
    let output = folder.appendingPathComponent("New.sqlite").path
    let models = Tool.snapshots.appendingPathComponent("Done")
    let arguments: [String] =
      switch command {
      case "plan", "rehearse", "migrate": [command, place.store.path, "--to", models.path, "--json"]
      case "salvage":
        [command, place.store.path, "--model", models.path + "/Done.json", "--output", output, "--json"]
      default: [command, place.store.path, "--json"]
      }
    let tool = actor == .root ? ToolProcess() : PlainUser.tool
    let outcome = try tool.run(arguments)
    let words: Comment = "\(attack.testDescription), \(command), \(actor.rawValue): \(outcome.summary)"
    #expect(!outcome.hung && outcome.code.flatMap(ExitCode.init(rawValue:)) != nil, words)
    if outcome.code != 0, outcome.code != 6 { #expect(outcome.failure != nil && outcome.message.count > 20, words) }
    let after = Self.picture(foreign.path)
    for name in Set(before.keys).union(after.keys) {
      let hasMoreNames = attack.givesNames && before[name]?.hasPrefix("file") == true
      #expect(before[name] == after[name] || hasMoreNames, "\(words.rawValue): \(name)")
    }
    #expect(try Data(contentsOf: place.letter) == Data("dear diary".utf8), words)
    if !attack.givesNames { #expect(Self.copies(of: "dear diary", in: folder.path) == [], words) }
    #expect(Self.holdsRows(folder.path), words)
    return outcome.code.map { "\($0)" } ?? "signal"
  }

  private static func picture(_ folder: String) -> [String: String] {
    var picture: [String: String] = [:]
    for name in [""] + (FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []) {
      var status = stat()
      guard lstat(folder + "/" + name, &status) == 0 else { continue }
      let isFile = status.st_mode & S_IFMT == S_IFREG
      picture[name] =
        (isFile ? "file \(status.st_nlink) names" : "other")
        + " \(String(status.st_mode, radix: 8)) \(status.st_uid) \(status.st_size)"
    }
    return picture
  }

  private static func copies(of content: String, in folder: String) -> [String] {
    (FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []).filter { name in
      var status = stat()
      guard lstat(folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
      return (try? Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))) == Data(content.utf8)
    }
  }

  /// In the store, a version or a set-aside store; copies are read, as reading changes them.
  private static func holdsRows(_ folder: String) -> Bool {
    let names = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
    return names.filter { $0.hasSuffix("Done.sqlite") }.contains { name in
      var status = stat()
      guard lstat(folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        let copy = try? TemporaryDirectory()
      else { return false }
      let file = copy.file("Done.sqlite").path
      try? FileManager.default.copyItem(atPath: folder + "/" + name, toPath: file)
      // The copy has no journal: rows are counted without undoing one.
      let journal = folder + "/" + name + "-journal"
      let wholeFile = [journal].allSatisfy { !FileManager.default.fileExists(atPath: $0) }
      let connection = try? Connection(path: file, mode: wholeFile ? .readOnly : .immutable)
      let count = try? connection?.firstInteger("SELECT COUNT(*) FROM ZITEM WHERE ZNAME LIKE 'item _'")
      return count == 6
    }
  }
}
