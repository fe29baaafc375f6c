import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// ``DoctorWalkTests`` where files beside the store are damaged or all there is.
struct KeptWalkTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }
  private var store: URL { directory.file("Notebook.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

  /// 900 notes of the second version, with two kept versions: the older is of the first.
  private func makeVersions() throws -> [PreviousVersion] {
    _ = try Notebook.makeStore(in: directory, count: 900)
    for (number, model) in [try Notebook.adding(), try Notebook.first()].enumerated() {
      let path = try Notebook.write(model, "V\(number)", in: directory)
      let outcome = tool("migrate", store.path, "--to", path, "--keep", "3", "--accept-losses", "--accept-version")
      #expect(outcome.code == 0, "\(outcome.error)")
    }
    return try StoreArchive(storeURL: store).previousVersions()
  }

  /// The nine kilobytes that stay hold no note.
  private func cut(_ url: URL) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: 9000)
    try handle.close()
  }

  private func count() throws -> Int64? {
    let connection = try Connection(reading: store)
    defer { try? connection.close() }
    return try connection.firstInteger("SELECT COUNT(*) FROM ZNOTE")
  }

  /// The damaged ones of the store and the kept versions, the newest first; `nil` for a store that
  /// is gone.
  struct Case: CustomTestStringConvertible, Sendable {
    let isStoreDamaged: Bool?
    let damaged: [Int]
    /// The main files of those versions are gone, while their folders are there.
    var areGone = false
    var testDescription: String {
      "store \(isStoreDamaged.map { $0 ? "damaged" : "sound" } ?? "gone"), versions \(areGone ? "gone" : "damaged"): \(damaged)"
    }
  }

  private static let cases = [true, false, nil].flatMap { store in
    [[], [0], [1], [0, 1]].map { Case(isStoreDamaged: store, damaged: $0) }
      + [[0], [0, 1]].map { Case(isStoreDamaged: store, damaged: $0, areGone: true) }
  }

  @discardableResult private func make(_ damage: Case) throws -> [PreviousVersion] {
    let versions = try makeVersions()
    for index in damage.damaged {
      if damage.areGone {
        try FileManager.default.removeItem(at: versions[index].storeURL)
      } else {
        try cut(versions[index].storeURL)
      }
    }
    switch damage.isStoreDamaged {
    case true?: try cut(store)
    case nil: try FileManager.default.removeItem(at: store)
    case false?: break
    }
    return versions
  }

  @Test(arguments: cases)
  func `the advice ends where the store or kept versions are damaged`(damage: Case) throws {
    try make(damage)
    let end = try DoctorWalk(tool: tool, store: store.path).run()
    if damage.isStoreDamaged == nil, damage.damaged.count == 2 {
      #expect(end.isSentence && end.text.contains("look for a backup"), "\(end)")
    } else {
      #expect(tool("inspect", store.path).code == 0)
    }
    if damage.isStoreDamaged == false || damage.damaged.count < 2 { #expect(try count() == 900) }
  }

  @Test(arguments: cases)
  func `the command that the list of versions names is one that works`(damage: Case) throws {
    let versions = try make(damage)
    let listed = tool("versions", store.path)
    #expect(listed.code == 0)
    let command = try #require(
      PrintedCommand.all(in: listed.output).last { ["restore", "doctor"].contains($0.words[0]) })
    #expect((command.words[0] == "restore") == (damage.damaged.count < 2), "\(listed.output)")
    for index in damage.damaged where index == 0 || damage.damaged.count == 2 {
      #expect(listed.output.contains("\(versions[index].id) can't be read whole"), "\(listed.output)")
    }
    #expect(tool.run(command.words).code == 0, "\(command)")
    if command.words[0] == "restore" {
      #expect(try count() == 900)
      #expect(command.words.last == versions[damage.damaged.contains(0) ? 1 : 0].id)
    }
    // Each command that needs a store that is gone names the same one.
    guard damage.isStoreDamaged == nil, damage.damaged.count < 2 else { return }
    let model = directory.file("V1.json").path
    for words in [
      ["migrate", store.path, "--to", model], ["plan", store.path, "--to", model], ["verify", store.path],
      ["rehearse", store.path, "--to", model], ["repair", store.path],
      ["salvage", store.path, "--output", directory.file("New.sqlite").path],
    ] {
      try FileManager.default.removeItem(at: store)
      for end in StoreLocation.sideSuffixes { try? FileManager.default.removeItem(atPath: store.path + end) }
      let refused = tool.run(words)
      let advice = try #require(
        PrintedCommand.all(in: refused.error).first { $0.words[0] == "restore" }, "\(words): \(refused)")
      #expect(!refused.error.contains("make a store") && advice.words.last == command.words.last, "\(refused)")
      #expect(tool.run(advice.words).code == 0)
      #expect(try count() == 900)
    }
  }

  @Test(arguments: ["-wal", "-journal", nil], ["no store any more, whatever it was before", "cut"])
  func `what a restored version replaced is kept byte for byte, with the files beside it`(
    suffix: String?, damage: String
  ) throws {
    let versions = try makeVersions()
    // Whatever is beside the damaged file, it is somebody's.
    if damage == "cut" { try cut(store) } else { try Data(damage.utf8).write(to: store) }
    let files = [""] + [suffix].compactMap(\.self)
    if let suffix { try Data("what was there".utf8).write(to: URL(fileURLWithPath: store.path + suffix)) }
    let support = directory.file(".Notebook_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
    try Data("a picture".utf8).write(to: support.appendingPathComponent("picture"))
    let before = try files.map { try Data(contentsOf: URL(fileURLWithPath: store.path + $0)) }
    let outcome = tool("restore", store.path, "--version", versions[0].id, "--json")
    #expect(outcome.code == 0, "\(outcome)")
    let json = try outcome.json()
    #expect(json["retained"] is NSNull)
    let folder = try #require(json["movedAside"] as? String)
    let moved = URL(fileURLWithPath: folder).appendingPathComponent(store.lastPathComponent)
    #expect(try files.map { try Data(contentsOf: URL(fileURLWithPath: moved.path + $0)) } == before)
    let picture = URL(fileURLWithPath: folder).appendingPathComponent(".Notebook_SUPPORT/_EXTERNAL_DATA/picture")
    #expect(try Data(contentsOf: picture) == Data("a picture".utf8))
    #expect(try count() == 900)
  }

  @Test func `a restored version says where the damaged file is, and what reads it`() throws {
    let versions = try makeVersions()
    try cut(store)
    let damaged = try Data(contentsOf: store)
    let outcome = tool("restore", store.path, "--version", versions[0].id)
    #expect(outcome.code == 0 && !outcome.output.contains("There was no store"), "\(outcome)")
    let command = try #require(PrintedCommand.all(in: outcome.output).first, "\(outcome)")
    #expect(command.words[0] == "doctor")
    #expect(try Data(contentsOf: URL(fileURLWithPath: command.words[1])) == damaged)
    // The salvage that is named writes beside the store, not among what is kept.
    let end = try DoctorWalk(tool: tool, store: command.words[1]).runOnce()
    #expect(end.hasPrefix("heirloom salvage "), "\(end)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: command.words[1])) == damaged)
  }

  // MARK: - A log alone, or beside nothing

  /// A log with all notes, beside no file or an empty one.
  private func leaveLog(isEmptyFile: Bool) throws -> Data {
    _ = try Notebook.makeStore(in: directory, count: 20)
    let copy = directory.file("Copy.sqlite")
    try FileManager.default.copyItem(at: store, to: copy)
    let connection = try Connection(path: copy.path, mode: .readWrite)
    _ = try connection.rows("PRAGMA journal_mode = WAL")
    try connection.execute("PRAGMA wal_autocheckpoint = 0")
    try connection.execute("VACUUM")
    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + end) }
    try FileManager.default.removeItem(atPath: store.path + ".heirloom")
    let log = try Data(contentsOf: URL(fileURLWithPath: copy.path + "-wal"))
    try log.write(to: URL(fileURLWithPath: store.path + "-wal"))
    try connection.close()
    if isEmptyFile { try Data().write(to: store) }
    return log
  }

  @Test(arguments: [false, true])
  func `no command and no error advises to make a store where a log is`(isEmptyFile: Bool) throws {
    let log = try leaveLog(isEmptyFile: isEmptyFile)
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    for words in [
      ["migrate", store.path, "--to", model], ["verify", store.path], ["restore", store.path], ["inspect", store.path],
      ["plan", store.path, "--to", model], ["repair", store.path], ["doctor", store.path],
    ] {
      let told = tool.run(words)
      let text = told.output + told.error
      // An empty file is no store whose versions could be asked for, but the list of them is.
      guard words[0] != "restore" || !isEmptyFile, words[0] != "inspect" || isEmptyFile else { continue }
      #expect(text.contains("-wal"), "\(words): \(text)")
      #expect(!text.contains("make a store") && !text.contains("makes a new store"), "\(words): \(text)")
      #expect(text.contains("salvage") || text.contains("Salvage"), "\(words): \(text)")
    }
    let error = #expect(throws: StoreError.self) { try PersistentStore.open(at: store, model: Notebook.first()) }
    #expect(error?.recoverySuggestion?.contains("salvage") == true, "\(String(describing: error?.recoverySuggestion))")
    #expect(error?.recoverySuggestion?.contains("make a store") == false)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal")) == log)
    let end = try DoctorWalk(tool: tool, store: store.path, options: ["--model", model]).run()
    #expect(end.commands == ["salvage", "inspect"], "\(end)")
    #expect(try count() == 20)
  }

  @Test(arguments: [false, true])
  func `each command that is given a log names its store`(isEmptyFile: Bool) throws {
    _ = try leaveLog(isEmptyFile: isEmptyFile)
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    let log = store.path + "-wal"
    for words in [["verify", log], ["plan", log, "--to", model], ["migrate", log, "--to", model], ["doctor", log]] {
      let told = tool.run(words)
      let commands = PrintedCommand.all(in: told.output + told.error)
      #expect(commands.map(\.words) == [["doctor", store.path]], "\(words): \(told)")
    }
    let end = try DoctorWalk(tool: tool, store: store.path, options: ["--model", model]).run()
    #expect(try end.commands == ["salvage", "inspect"] && count() == 20, "\(end)")
  }

  @Test func `an empty file alone is said to be alone, and its list of versions is empty`() throws {
    try Data().write(to: store)
    for words in [["verify", store.path], ["inspect", store.path], ["repair", store.path]] {
      let told = tool.run(words)
      #expect(told.code == 1 && told.error.contains("no -wal file with content beside"), "\(told)")
      for command in PrintedCommand.all(in: told.error) { #expect(tool.run(command.words).code == 0, "\(command)") }
    }
    #expect(tool("versions", store.path).output.contains("no previous version is kept"))
  }

  @Test(arguments: [false, true])
  func `a store in WAL mode without its log is noted where nothing shows that it lies in its place`(
    archives: Bool
  ) throws {
    _ = try Notebook.makeStore(in: directory, count: 20, archives: archives)
    let connection = try Connection(path: store.path, mode: .readWrite)
    _ = try connection.rows("PRAGMA journal_mode = WAL")
    try connection.close()
    for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + end) }
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    let told = tool("doctor", store.path, "--model", model).output
    #expect(told.contains("there is no \"-wal\"") == !archives, "\(told)")
    #expect(told.contains("nothing is wrong") == archives, "\(told)")
    #expect(told.contains("heirloom inspect"))
  }
}

extension DoctorWalk {
  /// Runs the first command that `doctor` names, and returns it.
  func runOnce() throws -> String {
    let json = try tool.run(["doctor", store, "--json"]).json()
    let next = try #require(json["next"] as? String, "\(json)")
    let outcome = tool.run(Array(try Self.words(of: next).dropFirst()))
    #expect([0, 6].contains(outcome.code), "\(next): \(outcome)")
    return next
  }
}
