import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

struct ConsentCommandTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }
  private let dropping: String
  private let first: String

  init() throws {
    directory = try TemporaryDirectory()
    first = try Notebook.write(Notebook.first(), "Notebook", in: directory)
    dropping = try Notebook.write(Notebook.dropping(), "Notebook 2", in: directory)
  }

  private func losses(_ json: [String: Any]) -> [String] {
    (json["losses"] as? [[String: Any]] ?? []).map { loss in
      let consented = loss["consented"] as? Bool == true ? "consented" : "open"
      return
        "\(loss["kind"] ?? "") \(loss["entity"] ?? "").\(loss["property"] ?? "") \(loss["rows"] ?? "") \(consented)"
    }
  }

  @Test(arguments: ["plan", "rehearse", "migrate"])
  func `what nobody consented to lose stops with exit 3, and the flag consents`(command: String) throws {
    let store = try Notebook.makeStore(in: directory, count: 10)
    let bytes = try Data(contentsOf: store)
    let refused = tool(command, store.path, "--to", dropping, "--json")
    #expect(refused.code == 3)
    let json = try refused.json()
    let failure = try #require(json["error"] as? [String: Any])
    #expect(failure["code"] as? String == "lossesNotConsented" && failure["storeAt"] as? String == store.path)
    #expect(losses(json) == ["values Note.mood 5 open"] && json["warnings"] is [Any])
    let text = tool(command, store.path, "--to", dropping)
    #expect(text.code == 3)
    #expect((text.output + text.error).contains("5 rows"), "\(text.output)\(text.error)")
    #expect(text.error.contains("--skeleton") && text.error.contains("--accept-losses"))
    let lines = text.error.split(separator: "\n")
    for (line, next) in zip(lines, lines.dropFirst()) where line.hasSuffix(":") { #expect(next.hasPrefix("  –")) }
    #expect(try Data(contentsOf: store) == bytes)

    let accepted = tool(command, store.path, "--to", dropping, "--accept-losses", "--json")
    #expect(accepted.code == 0, "\(accepted.error)")
    let success = try accepted.json()
    #expect(losses(success) == ["values Note.mood 5 consented"] && success["warnings"] is [Any])
    guard command == "migrate" else { return }
    // A person who accepted the loss needs no pin.
    let versions = try #require(try tool("versions", store.path, "--json").json()["versions"] as? [[String: Any]])
    #expect(versions.count == 1 && versions[0]["pinned"] is NSNull)
    let second = tool("migrate", store.path, "--to", dropping, "--json")
    #expect(second.code == 0)
    #expect(try second.json()["outcome"] as? String == "upToDate")
  }

  @Test func `what no model knows is not to be acknowledged, since no step loses it`() throws {
    let store = try Notebook.makeStore(in: directory, count: 10)
    let gone = try Notebook.write(
      ManagedObjectModel(entities: [Make.entity("Other", [Make.attribute("name")])]),
      "Gone", in: directory)
    try Connection.execute("ALTER TABLE ZNOTE ADD COLUMN ZLEFTOVER", "UPDATE ZNOTE SET ZLEFTOVER = 'x'", on: store.path)
    let history = directory.file("History").path
    for model in [first, gone] { #expect(tool("snapshot", model, "--history", history).code == 0) }
    let text = tool("migrate", store.path, "--to", history)
    #expect(text.code == 3)
    #expect(text.error.contains("ZLEFTOVER") && text.error.contains("--accept-losses"), "\(text.error)")
    // The other losses alone would leave the migration refused.
    #expect(!text.error.contains("--acknowledge"), "\(text.error)")
  }

  @Test func `of many stores only those that lose something stop, each with its own losses`() throws {
    let full = try Notebook.makeStore(in: directory, count: 10, name: "Full.sqlite")
    let bare = try Notebook.makeStore(in: directory, count: 1, name: "Bare.sqlite")
    try Connection.execute("UPDATE ZNOTE SET ZMOOD = NULL", on: bare.path)
    let outcome = tool("migrate", full.path, bare.path, "--to", dropping, "--json")
    let stores = try #require(try outcome.json()["stores"] as? [[String: Any]])
    #expect(outcome.code == 3)
    #expect(losses(stores[0]) == ["values Note.mood 5 open"])
    #expect(stores[1]["outcome"] as? String == "migrated")
    let both = tool("migrate", full.path, bare.path, "--to", dropping, "--accept-losses", "--jobs", "2")
    #expect(both.code == 0, "\(both.error)")
  }

  @Test func `a lock that acknowledges the loss consents for every command and store`() throws {
    let history = directory.file("History").path
    for model in [first, dropping] { #expect(tool("snapshot", model, "--history", history).code == 0) }
    let found = tool("check", history, "--json")
    #expect(found.code == 6)
    let findings = try #require(try found.json()["findings"] as? [[String: Any]])
    let loss = try #require(findings.first { $0["rule"] as? String == "loss" })
    #expect(loss["severity"] as? String == "error" && loss["entity"] as? String == "Note")
    #expect(loss.sentences.contains("--acknowledge Note.mood"))

    let wrong = tool("check", history, "--acknowledge", "Note.moood")
    #expect(wrong.code == 2 && wrong.error.contains("Note.mood"), "\(wrong.error)")
    let lock = history + "/lock.json"
    let before = try Data(contentsOf: URL(fileURLWithPath: lock))
    #expect(tool("check", history, "--acknowledge", "Note.mood").code == 0)
    let after = try Data(contentsOf: URL(fileURLWithPath: lock))
    #expect(after != before)
    #expect(tool("check", history).code == 0)
    #expect(tool("check", history, "--acknowledge", "Note.mood").code == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: lock)) == after)
    let store = try Notebook.makeStore(in: directory, count: 10)
    for command in ["plan", "rehearse", "migrate"] {
      let outcome = tool(command, store.path, "--to", history, "--json")
      #expect(outcome.code == 0, "\(command): \(outcome.error)")
      let json = try outcome.json()
      #expect(losses(json) == ["values Note.mood 5 consented"])
      let consents = (json["losses"] as? [[String: Any]] ?? []).map { $0["consent"] as? String }
      #expect(consents == ["lock"])
    }
  }

  @Test func `what was acknowledged and isn't lost is told`() throws {
    let history = directory.file("History").path
    let adding = try Notebook.write(Notebook.adding(), "Notebook 2", in: directory)
    for model in [first, adding] { #expect(tool("snapshot", model, "--history", history).code == 0) }
    let url = URL(fileURLWithPath: history + "/lock.json")
    var lock = try VersionLock(path: url.path)
    lock.acknowledge("Note.mood", from: "Notebook", to: "Notebook 2")
    try Data(lock.encoded()).write(to: url)
    let outcome = tool("check", history, "--json")
    #expect(outcome.code == 0)
    let kinds = (try outcome.json()["findings"] as? [[String: Any]] ?? []).compactMap { $0["rule"] as? String }
    #expect(kinds == ["stale-acknowledgement"])
  }

  @Test func `a version that the app pinned is told by versions and doctor, and released`() throws {
    let store = try Notebook.makeStore(in: directory, count: 10)
    let assistant = MigrationAssistant(store, from: try Notebook.first(), to: try Notebook.dropping())
    let report = try assistant.migrate()
    let listed = tool("versions", store.path)
    #expect(
      listed.output.contains("is pinned: it holds 5 rows of Note.mood that the store lacked when it was last compared"),
      "\(listed.output)")
    #expect(tool("doctor", store.path).output.contains("5 rows of Note.mood"))
    let json = try #require(try tool("versions", store.path, "--json").json()["versions"] as? [[String: Any]])
    let pin = try #require(json[0]["pinned"] as? [String: Any])
    #expect(losses(pin) == ["values Note.mood 5 open"] && pin["unlisted"] as? Int == 0)
    #expect(tool("versions", store.path, "--release", "1999").code == 1)
    let released = tool("versions", store.path, "--release", report.previousVersion.id, "--json")
    #expect(released.code == 0)
    #expect(try released.json()["released"] as? String == report.previousVersion.id)
    #expect(tool("versions", store.path, "--release", report.previousVersion.id).code == 0)
    #expect(!tool("versions", store.path).output.contains("pinned"))
  }

  @Test func `who goes back is told what the version kept then alone holds`() throws {
    let store = try Notebook.makeStore(in: directory, count: 10)
    _ = tool("migrate", store.path, "--to", dropping, "--accept-losses")
    let opened = try PersistentStore.open(at: store, model: try Notebook.dropping())
    let context = ManagedObjectContext(store: opened)
    try context.insert("Note")["title"] = .string("Friday")
    try context.save()
    try opened.close()
    let back = tool("restore", store.path)
    let kept = try #require(try StoreArchive(storeURL: store).previousVersions().first)
    #expect(
      back.output.hasSuffix(
        "\(kept.id) is pinned: it holds 1 row of Note that the store lacked when it was last compared. heirloom versions \(store.path) --release \(kept.id) unpins it.\n"
      ), "\(back.output)")
    // Its rows are in the store again, and the store of the first model is where it was kept before.
    let forth = try tool("restore", store.path, "--version", kept.id, "--json").json()
    #expect(forth["retained"] is String && forth["pinned"] as? Bool == true)
    #expect(try StoreArchive(storeURL: store).previousVersions().map(\.isPinned) == [true, false, false])
  }

  @Test func `a store of an unknown version needs a flag of its own`() throws {
    let store = try Notebook.makeStore(in: directory, count: 10)
    // Only the store's own cache knows its model then.
    try FileManager.default.removeItem(atPath: store.path + ".heirloom")
    let unknown = tool("migrate", store.path, "--to", dropping, "--accept-losses", "--json")
    #expect(unknown.code == 5, "\(unknown.output)")
    let losing = tool("migrate", store.path, "--to", dropping, "--accept-version", "--json")
    #expect(losing.code == 3)
    let both = tool("migrate", store.path, "--to", dropping, "--accept-version", "--accept-losses", "--json")
    #expect(both.code == 0, "\(both.error)")
  }

  // MARK: - Each change, each way

  enum Way: String, CaseIterable, Sendable {
    case bare, flag, mapping, manyBare, manyFlag
  }

  @Test(arguments: FlightChange.allCases, Way.allCases)
  func `each value is in the store or in the kept version after each change`(change: FlightChange, way: Way) throws {
    let (source, destination) = (try FlightChange.before(), try change.after())
    let history = directory.file("Flights")
    for (name, model) in [("1", source), ("2", destination)] {
      let file = try Notebook.write(model, name, in: directory)
      #expect(tool("snapshot", file, "--history", history.path).code == 0)
    }
    let stores = ["A.sqlite", "B.sqlite"].map { directory.file($0) }
    for store in stores { try FlightChange.makeStore(at: store) }
    let bytes = try Data(contentsOf: stores[0])
    var arguments = ["migrate", stores[0].path, "--to", history.path, "--json"]
    var keeps = false
    switch way {
    case .bare: break
    case .flag: arguments.append("--accept-losses")
    case .mapping:
      if let given = change.keeping {
        let whole = try MappingInference(from: source, to: destination, given: given).mappingModel()
        let file = directory.file("1-2.cdm")
        try Data(MappingArchiveWriter.archive(whole)).write(to: file)
        arguments += ["--mapping", file.path]
        keeps = true
      }
    case .manyBare: arguments += [stores[1].path]
    case .manyFlag: arguments += [stores[1].path, "--accept-losses", "--jobs", "2"]
    }
    let consents = way == .flag || way == .manyFlag
    let outcome = tool.run(arguments)
    let lost = keeps ? [] : change.losses
    let isRefused = !lost.isEmpty && !consents
    #expect(outcome.code == (isRefused ? 3 : 0), "\(outcome.output)\(outcome.error)")
    for store in stores.prefix(way.rawValue.hasPrefix("many") ? 2 : 1) {
      let all = FlightChange.names.union(FlightChange.ages)
      var expected = all
      if !isRefused, lost.contains("Flight.pilotName") { expected.subtract(FlightChange.names) }
      if !isRefused, lost.contains("Flight.pilotAge") { expected.subtract(FlightChange.ages) }
      #expect(try FlightChange.pilots(in: store) == expected)
      let listed = try tool("versions", store.path, "--json").json()["versions"] as? [[String: Any]]
      #expect(listed?.count == (isRefused ? 0 : 1))
      for kept in listed?.compactMap({ $0["path"] as? String }) ?? [] {
        #expect(try FlightChange.pilots(in: URL(fileURLWithPath: kept)) == all)
      }
    }
    if isRefused { #expect(try Data(contentsOf: stores[0]) == bytes) }
  }
}
