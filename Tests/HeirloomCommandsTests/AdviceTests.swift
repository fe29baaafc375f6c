import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

/// Each sentence of advice is followed word for word where it is printed, and one more release migrates the store.
struct AdviceTests: ModelMaking {
  struct Situation: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let follow: @Sendable (AdviceScene) throws -> Void

    init(_ name: String, _ follow: @escaping @Sendable (AdviceScene) throws -> Void) {
      (testDescription, self.follow) = (name, follow)
    }
  }

  @Test(arguments: situations) func `advice is followed word for word, over one more release`(_ situation: Situation)
    throws
  {
    let scene = try AdviceScene()
    try situation.follow(scene)
    try scene.release()
  }

  static let situations = kept + refused + histories + laterHistories + swift + found + others + merged

  // MARK: - What is kept

  private static let kept = [
    Situation("a migration names what brings the store back") { scene in
      try scene.makeStore()
      try scene.follow(
        ["migrate", scene.store.path, "--to", scene.adding], "restore", then: ["verify", scene.store.path],
        isLasting: true)
    },
    Situation("a store that is gone comes back") { scene in
      try scene.makeMigratedStore()
      try FileManager.default.removeItem(at: scene.store)
      #expect(!scene.run("doctor", scene.store.path).output.contains("what is there now"))
      try scene.follow(["migrate", scene.store.path, "--to", scene.adding], "restore")
    },
    Situation("what was restored can be taken back") { scene in
      try scene.makeMigratedStore()
      try scene.follow(["restore", scene.store.path], "restore", then: ["verify", scene.store.path], isLasting: true)
      let compared = try scene.tool("compare", scene.store.path, scene.adding, "--json").json()
      #expect(compared["verdict"] as? String == "identical")
    },
    Situation("a kept version is restored from the list") { scene in
      try scene.makeMigratedStore()
      try scene.follow(["versions", scene.store.path], "restore", then: ["verify", scene.store.path])
    },
    Situation("a pinned version is let go") { scene in
      try scene.makeMigratedStore()
      try scene.execute("UPDATE ZNOTE SET ZRATING = 5")
      scene.run("restore", scene.store.path)
      try scene.follow(["versions", scene.store.path], "versions")
    },
    Situation("a store that was moved aside returns from the list") { scene in
      try scene.makeStore()
      let id = try Notebook.setAside(scene.store).id
      let listed = scene.run("versions", scene.store.path).output
      #expect(listed.contains(id) && listed.contains("give it the name with --set-aside, and the model with --to"))
      scene.run("restore", scene.store.path, "--set-aside", id, "--to", scene.first)
    },
    Situation("a damaged record is repaired, and the diagnosis goes on") { scene in
      try scene.makeMigratedStore()
      try Data("{".utf8).write(to: URL(fileURLWithPath: scene.store.path + ".heirloom/manifest.json"))
      try scene.follow(["doctor", scene.store.path], "repair")
      try Data("{".utf8).write(to: URL(fileURLWithPath: scene.store.path + ".heirloom/manifest.json"))
      try scene.follow(["repair", scene.store.path], "doctor")
    },
  ]

  // MARK: - What is refused

  private static let refused = [
    Situation("losses are accepted") { scene in
      try scene.makeStore()
      scene.take(["migrate", scene.store.path, "--to", scene.dropping], "--accept-losses")
    },
    Situation("a step by code is run without its code") { scene in
      try scene.makeStore()
      scene.ship(scene.first, scene.dropping)
      scene.run("check", scene.history, "--by-app", "1")
      scene.take(["migrate", scene.store.path, "--to", scene.history], "--accept-losses")
    },
    Situation("losses are acknowledged for all stores") { scene in
      try scene.makeStore()
      scene.ship(scene.first, scene.dropping)
      try scene.follow(["migrate", scene.store.path, "--to", scene.history], "check")
    },
    Situation("the loss of a renamed attribute is acknowledged") { scene in
      try scene.makeStore()
      let renamed = try scene.write("2") { note in
        note.attributes.removeAll { $0.name == "mood" }
        note.attributes.append(Make.attribute("feeling", id: "mood"))
      }
      scene.ship(scene.first, renamed, scene.dropping)
      try scene.follow(["migrate", scene.store.path, "--to", scene.history], "check")
    },
    Situation("a mapping keeps what would be lost") { scene in
      try scene.makeStore()
      try scene.follow(
        ["migrate", scene.store.path, "--to", scene.dropping], "compare", then: ["verify", scene.store.path],
        isLasting: true)
    },
    Situation("a mapping that can't be inferred is begun") { scene in
      try scene.makeStore()
      let converting = try Notebook.write(Notebook.converting(), "It's here/4", in: scene.directory)
      try scene.follow(
        ["migrate", scene.store.path, "--to", converting], "compare", then: ["verify", scene.store.path],
        isLasting: true)
    },
    Situation("rows are decided about") { scene in
      try scene.makeStore()
      let requiring = try Notebook.write(Notebook.requiring(), "It's here/4", in: scene.directory)
      scene.take(["migrate", scene.store.path, "--to", requiring], "--decide", "Note.author=fill:me")
    },
    Situation("an unknown version is accepted") { scene in
      try scene.makeStore()
      // Only the store's own cache knows its model then.
      try FileManager.default.removeItem(atPath: scene.store.path + ".heirloom")
      scene.take(["migrate", scene.store.path, "--to", scene.dropping], "--accept-version", then: ["--accept-losses"])
    },
    Situation("the model of a store is given") { scene in
      try scene.makeStore(archives: false)
      scene.take(["migrate", scene.store.path, "--to", scene.adding], "--model", scene.first)
    },
    Situation("a newer store's earlier version is restored") { scene in
      try scene.makeNewerStore()
      try scene.follow(["migrate", scene.store.path, "--to", scene.version("V1")], "restore")
    },
    Situation("a newer store goes back") { scene in
      try scene.makeNewerStore()
      try scene.execute("UPDATE ZNOTE SET ZRATING = 'five'")
      let question = ["migrate", scene.store.path, "--to", scene.version("V1")]
      scene.take(question, "--accept-version", then: ["--accept-losses"])
    },
    Situation("what a newer store loses is not acknowledged") { scene in
      try scene.makeNewerStore()
      try scene.execute("UPDATE ZNOTE SET ZRATING = 'five'")
      let question = ["migrate", scene.store.path, "--to", scene.version("V1"), "--accept-version"]
      let asked = scene.tool.run(question)
      #expect(asked.code == 3 && !asked.error.contains("--acknowledge"), "\(asked)")
      scene.take(question, "--accept-losses")
    },
    Situation("a store below the floor is migrated by the models of an earlier release") { scene in
      scene.ship(scene.first, scene.adding)
      try FileManager.default.copyItem(atPath: scene.history, toPath: scene.path("Earlier"))
      scene.ship(scene.dropping)
      scene.run("check", scene.history, "--acknowledge", "Note.mood", "--acknowledge", "Note.rating")
      scene.run("squash", scene.history, "--floor", "2")
      try scene.makeStore()
      let asked = scene.tool("migrate", scene.store.path, "--to", scene.history)
      #expect(asked.code == 5 && asked.error.contains("--to names the models of such a release"), "\(asked)")
      scene.run("migrate", scene.store.path, "--to", scene.path("Earlier"))
      scene.run("migrate", scene.store.path, "--to", scene.history)
    },
    Situation("a model is no store") { scene in
      try scene.makeStore()
      let bundle = try scene.writeBundle([("V1", ["mood"])], current: "V1")
      try scene.follow(["doctor", bundle], "inspect", then: ["doctor", scene.store.path], isLasting: true)
    },
    Situation("a command line that isn't understood") { scene in
      try scene.makeStore()
      for words in [["verify"], ["plan", scene.store.path]] {
        let asked = scene.tool.run(words)
        let printed = PrintedCommand.all(in: asked.error)
        // The first is an example with a file of its own.
        #expect(asked.code == 2 && printed.map { $0.words[0] } == [words[0], "help"], "\(asked)")
        #expect(scene.tool.run(try #require(printed.last).words).code == 0, "\(printed)")
      }
      let printed = PrintedCommand.all(in: scene.tool("nothing").error)
      #expect(printed.map(\.words) == [["help"]] && scene.tool("help").code == 0, "\(printed)")
    },
  ]

  // MARK: - Histories

  private static let histories = [
    Situation("a loss of a history is acknowledged") { scene in
      try scene.makeStore()
      scene.ship(scene.first, scene.dropping)
      try scene.follow(["check", scene.history], "check")
      scene.run("migrate", scene.store.path, "--to", scene.history)
    },
    Situation("an acknowledgement of nothing is taken out") { scene in
      scene.ship(scene.first, scene.dropping, try Notebook.write(Notebook.first(), "It's here/4", in: scene.directory))
      scene.run("check", scene.history, "--acknowledge", "Note.mood")
      // The same name is acknowledged for a step that loses nothing; the other has to stay.
      let file = scene.history + "/lock.json"
      var lock = try VersionLock(path: file)
      lock.acknowledge("Note.mood", from: "3", to: "4")
      try Data(lock.encoded()).write(to: URL(fileURLWithPath: file))
      try scene.follow(["check", scene.history], "check")
      #expect(try VersionLock(path: file).acknowledgements.map(\.source) == ["1"])
      #expect(scene.tool("check", scene.history, "--unacknowledge", "Note.title").code == 2)
      #expect(scene.tool("check", scene.history, "--unacknowledge", "Note.mood").code == 6)
      #expect(try VersionLock(path: file).acknowledgements.isEmpty)
    },
    Situation("a step is left to code where no lock is") { scene in
      let converting = try Notebook.write(Notebook.converting(), "It's here/4", in: scene.directory)
      let folder = scene.path("Bare")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for (name, file) in [("1", scene.first), ("4", converting)] {
        try FileManager.default.copyItem(atPath: file, toPath: folder + "/\(name).json")
      }
      try scene.follow(["check", folder, "--by-app", "1"], "snapshot")
    },
    Situation("what an earlier release made is compared with the history") { scene in
      scene.ship(scene.adding)
      try scene.makeStore()
      // The release that made the store isn't in the history; once it is, the check passes.
      try scene.follow(
        ["check", scene.history, "--store", scene.store.path], "compare", then: ["verify", scene.store.path],
        isLasting: true)
      scene.run("snapshot", scene.first, "--history", scene.history, "--before", "2")
      scene.run("check", scene.history, "--store", scene.store.path)
    },
    Situation("a new version names its history") { scene in
      let bundle = try scene.writeBundle([("V1", ["mood"])], current: "V1")
      let made = scene.run("new-version", bundle)
      let printed = PrintedCommand.all(in: made.output)
      #expect(printed.map { $0.words[0] } == ["history", "snapshot"], "\(made)")
      for command in printed { #expect(scene.tool.run(command.words).code == 0, "\(command)") }
      scene.run("check", bundle)
    },
    Situation("a floor needs a lock") { scene in
      let bundle = try scene.writeBundle([("V1", ["mood"]), ("V2", ["mood", "more"])], current: "V2")
      try scene.follow(["squash", bundle, "--floor", "V2"], "snapshot")
      try scene.follow(["squash", bundle, "--floor", "V2"], "check", then: ["check", bundle], isLasting: true)
    },
    Situation("an edit of a shipped version is shown") { scene in
      let bundle = try scene.writeBundle([("V1", ["mood"])], current: "V1")
      scene.run("snapshot", bundle, "--history", scene.path(""))
      for question in [
        ["generate", bundle, "--output", scene.path("Made.swift")], ["snapshot", bundle, "--history", scene.path("")],
      ] {
        try scene.writeBundle([("V1", ["moods"])], current: "V1")
        let asked = scene.tool.run(question)
        let printed = PrintedCommand.all(in: asked.error)
        #expect(asked.code == 1 && printed.map { $0.words[0] } == ["check"], "\(asked)")
        let shown = scene.tool.run(try #require(printed.first).words)
        #expect(shown.code == 6 && shown.output.contains("Note"), "\(shown)")
        try scene.writeBundle([("V1", ["mood"])], current: "V1")
        scene.run("check", bundle)
        #expect(scene.tool.run(question).code == 0)
      }
    },
    Situation("a fault of a model is shown") { scene in
      let bundle = try scene.writeBundle([("V1", ["mood"])], current: "V1")
      let contents = URL(fileURLWithPath: scene.version("V1") + "/contents")
      let text = try String(contentsOf: contents, encoding: .utf8)
      try Data(text.replacing("optional=", with: "optinal=").utf8).write(to: contents)
      let asked = scene.tool("snapshot", bundle, "--history", scene.path(""))
      let printed = PrintedCommand.all(in: asked.error)
      #expect(asked.code == 1 && printed.map { $0.words[0] } == ["check"], "\(asked)")
      let shown = scene.tool.run(try #require(printed.first).words)
      #expect(shown.code == 6 && shown.output.contains("optinal"), "\(shown)")
      try Data(text.utf8).write(to: contents)
      scene.run("snapshot", bundle, "--history", scene.path(""))
    },
    Situation("a version that was shipped earlier is put in its place") { scene in
      try scene.writeBundle([("V1", ["mood"]), ("V4", ["mood", "a"])], current: "V4")
      let bundle = scene.path("App.xcdatamodeld")
      scene.run("snapshot", bundle, "--history", scene.path(""))
      try scene.writeBundle([("V1", ["mood"]), ("V2", ["mood", "b"]), ("V4", ["mood", "a", "b"])], current: "V4")
      try scene.writeBundle([("V1", ["mood"]), ("V2", ["mood", "b"]), ("V4", ["mood", "a"])], current: "V4")
      try scene.follow(["snapshot", bundle, "--history", scene.path("")], "snapshot")
    },
    Situation("a place is kept without the option") { scene in
      let bundle = try scene.writeBundle([("V1", ["mood"]), ("V2", ["mood", "b"])], current: "V2")
      scene.run("snapshot", bundle, "--history", scene.path(""))
      let asked = scene.tool("snapshot", bundle, "--history", scene.path(""), "--before", "V1")
      #expect(asked.code == 1 && asked.error.contains("Without --before"), "\(asked)")
      scene.run("snapshot", bundle, "--history", scene.path(""))
    },
    Situation("a name is left out") { scene in
      let bundle = try scene.writeBundle([("V1", ["mood"])], current: "V1")
      let asked = scene.tool("new-version", bundle, "--name", "V1")
      #expect(asked.code != 0 && asked.error.contains("leave --name out"), "\(asked)")
      scene.run("new-version", bundle)
    },
    Situation("another file is named") { scene in
      try scene.makeStore()
      for end in ["json", "html", "swift"] {
        try Data("other".utf8).write(to: URL(fileURLWithPath: scene.path("there." + end)))
      }
      for question in [
        ["snapshot", scene.first, "--output", scene.path("there.json")],
        ["report", scene.store.path, "--to", scene.adding, "--output", scene.path("there.html")],
        ["freeze", scene.first, "--output", scene.path("there.swift")],
      ] {
        let asked = scene.tool.run(question)
        #expect(asked.code == 1 && asked.error.contains("Name another file with --output"), "\(asked)")
        let other = question.map { $0.replacing("there.", with: "other.") }
        #expect(scene.tool.run(other).code == 0, "\(other)")
      }
    },
  ]

  // MARK: - What is found

  private static let found = [
    Situation("a store that is well is inspected") { scene in
      try scene.makeStore()
      try scene.follow(["doctor", scene.store.path], "inspect", isLasting: true)
    },
    Situation("what is kept of a store that is well is listed") { scene in
      try scene.makeMigratedStore()
      try scene.follow(["doctor", scene.store.path], "versions", isLasting: true)
    },
    Situation("findings are verified") { scene in
      try scene.makeStore()
      try scene.execute("UPDATE ZNOTE SET Z_OPT = 0")
      try scene.follow(
        ["doctor", scene.store.path], "verify", codes: [6], then: ["doctor", scene.store.path], isLasting: true)
    },
    Situation("clean-up that was put off is done") { scene in
      try scene.makeStore()
      scene.run("migrate", scene.store.path, "--to", scene.dropping, "--accept-losses", "--defer")
      try scene.follow(["verify", scene.store.path], "migrate")
    },
    Situation("clean-up that was put off is the next step") { scene in
      try scene.makeStore()
      scene.run("migrate", scene.store.path, "--to", scene.dropping, "--accept-losses", "--defer")
      try scene.follow(["doctor", scene.store.path], "migrate")
    },
    Situation("an unfinished operation is settled") { scene in
      for question in ["doctor", "verify"] {
        if question == "doctor" { try scene.makeMigratedStore() }
        let identifier = String(repeating: "ab", count: 16)
        let manifest = VaultManifest(
          identifier: identifier, operation: .migration, storeName: scene.store.lastPathComponent,
          keptFolder: VersionName(time: 1_795_000_000, identifier: identifier).text, oldGeneration: nil,
          newGeneration: nil, time: 1_795_000_000)
        try Data(manifest.encoded()).write(to: URL(fileURLWithPath: scene.store.path + ".heirloom/manifest.json"))
        try scene.follow([question, scene.store.path], "migrate")
      }
    },
    Situation("the model that made a store is given") { scene in
      try scene.makeStore(archives: false)
      for command in ["verify", "inspect"] {
        let asked = scene.tool(command, scene.store.path)
        #expect((asked.output + asked.error).contains("give it with --model"), "\(asked)")
        scene.run(command, scene.store.path, "--model", scene.first)
      }
      scene.run("migrate", scene.store.path, "--to", scene.adding, "--model", scene.first)
    },
    Situation("a version that no model given has made is inspected") { scene in
      try scene.makeStore(archives: false)
      try scene.follow(
        ["doctor", scene.store.path, "--model", scene.dropping], "inspect", then: ["inspect", scene.store.path],
        isLasting: true)
      scene.run("migrate", scene.store.path, "--to", scene.adding, "--model", scene.first)
    },
    Situation("a damaged store's kept version is restored") { scene in
      try scene.makeMigratedStore()
      try Data("no store".utf8).write(to: scene.store)
      try scene.follow(["doctor", scene.store.path], "restore")
    },
    Situation("a damaged store is salvaged") { scene in
      try scene.makeStore()
      let handle = try FileHandle(forWritingTo: scene.store)
      try handle.write(contentsOf: Data(repeating: 0, count: 16))
      try handle.close()
      for question in ["doctor", "verify", "plan"] {
        let words = [question, scene.store.path] + (question == "plan" ? ["--to", scene.adding] : [])
        let asked = scene.tool.run(words)
        let printed = PrintedCommand.all(in: asked.output + asked.error).filter { $0.words[0] == "salvage" }
        let command = try #require(printed.first, "\(asked)")
        #expect(command.placeholder == nil, "\(command)")
        let salvaged = scene.tool.run(command.words)
        #expect([0, 6].contains(salvaged.code), "\(command): \(salvaged)")
      }
      try FileManager.default.removeItem(at: scene.store)
      try FileManager.default.moveItem(atPath: scene.path("Notebook.salvaged.sqlite"), toPath: scene.store.path)
    },
    Situation("a damaged store without a model is salvaged") { scene in
      try scene.makeStore(archives: false)
      let handle = try FileHandle(forWritingTo: scene.store)
      try handle.write(contentsOf: Data(repeating: 0, count: 16))
      try handle.close()
      for question in ["doctor", "verify"] {
        let asked = scene.tool(question, scene.store.path)
        let text = asked.output + asked.error
        #expect(!text.contains("heirloom salvage") && text.contains("with --model"), "\(asked)")
      }
      let output = scene.path("New.sqlite")
      let salvaged = scene.tool("salvage", scene.store.path, "--model", scene.first, "--output", output)
      #expect([0, 6].contains(salvaged.code), "\(salvaged)")
      try scene.follow(["doctor", scene.store.path, "--model", scene.first], "salvage", isLasting: true)
      try FileManager.default.removeItem(at: scene.store)
      try FileManager.default.moveItem(atPath: output, toPath: scene.store.path)
    },
    Situation("every remedy is carried out") { scene in
      try scene.makeMigratedStore()
      for remedy in Remedy.allCases {
        let sentence = try #require(remedy.command(for: scene.store.path))
        let printed = PrintedCommand.all(in: sentence)
        #expect(printed.count == 1 || remedy == .plan && sentence.contains("with --to"), "\(sentence)")
        for command in printed {
          #expect(command.placeholder == nil, "\(command)")
          #expect([0, 6].contains(scene.tool.run(command.words).code), "\(command)")
        }
      }
      // Twice, since what the first one wrote is there now.
      let again = PrintedCommand.all(in: Remedy.diagnosticsArchive.command(for: scene.store.path) ?? "")
      #expect(scene.tool.run(try #require(again.first).words).code == 0, "\(again)")
      try FileManager.default.removeItem(atPath: scene.store.path + ".heirloom")
      #expect(Remedy.migration.command(for: scene.store.path)?.contains("give it the app's model with --to") == true)
    },
    Situation("a missing file of external data is copied back") { scene in
      let support = try scene.makeStoreWithFiles()
      let note = try #require(ModelFile(scene.path("Files.json")).read().model.entity(named: "Note"))
      let later = try ManagedObjectModel(entities: [entity("Note", note.attributes + [attribute("more")])])
      scene.run(
        "migrate", scene.store.path, "--to", try Notebook.write(later, "It's here/2", in: scene.directory))
      let names = try FileManager.default.contentsOfDirectory(atPath: support)
      for isFolder in [false, true] {
        if isFolder {
          try FileManager.default.removeItem(atPath: scene.path(".Notebook_SUPPORT"))
        } else {
          for name in names.prefix(2) { try FileManager.default.removeItem(atPath: support + "/" + name) }
        }
        #expect(scene.tool("verify", scene.store.path).code == 6)
        try scene.followInShell(["doctor", scene.store.path], ["cp "])
        scene.run("verify", scene.store.path)
      }
    },
    Situation("a missing file that nothing has is named") { scene in
      let support = try scene.makeStoreWithFiles()
      let names = try FileManager.default.contentsOfDirectory(atPath: support).sorted()
      try FileManager.default.moveItem(atPath: support + "/" + names[0], toPath: scene.path("backup"))
      let told = scene.run("doctor", scene.store.path)
      #expect(told.output.contains("look for \(names[0]) in a backup, and copy it to \(support)"), "\(told)")
      try FileManager.default.moveItem(atPath: scene.path("backup"), toPath: support + "/" + names[0])
      scene.run("verify", scene.store.path)
      // A version that lacks the file too can't be read whole: the list of versions names this for it.
      let note = try #require(ModelFile(scene.path("Files.json")).read().model.entity(named: "Note"))
      let later = try ManagedObjectModel(entities: [entity("Note", note.attributes + [attribute("more")])])
      scene.run("migrate", scene.store.path, "--to", try Notebook.write(later, "Later", in: scene.directory))
      let version = try #require(try StoreArchive(storeURL: scene.store).previousVersions().first)
      for folder in [support, ExternalStorage.folder(forStoreAt: version.storeURL.path)] {
        try FileManager.default.removeItem(atPath: folder + "/" + names[0])
      }
      try scene.follow(["versions", scene.store.path], "doctor", isLasting: true)
      let named = PrintedCommand.all(in: scene.run("doctor", scene.store.path).output)
      #expect(named.map { Array($0.words.prefix(2)) } == [["salvage", version.storeURL.path]])
      #expect(scene.tool.run(named[0].words).code == 6)
    },
    Situation("a snapshot that can't be read is written anew") { scene in
      try scene.makeStore()
      let snapshot = ModelController(storeURL: scene.store).snapshotURL
      try Data("no model".utf8).write(to: snapshot)
      #expect(scene.tool("verify", scene.store.path).code == 6)
      try scene.followInShell(["doctor", scene.store.path], ["mv "])
      scene.run("verify", scene.store.path)
      scene.run("migrate", scene.store.path, "--to", scene.first)
      #expect(try ModelController(storeURL: scene.store).snapshot()?.model == Notebook.first())
    },
    Situation("a damaged page of a kept version is found, and the rest is salvaged") { scene in
      try scene.makeStore()
      try scene.execute("UPDATE ZNOTE SET ZTITLE = ZTITLE || ' ' || hex(zeroblob(600))")
      scene.run("migrate", scene.store.path, "--to", scene.adding)
      scene.run("verify", scene.store.path)
      let kept = try #require(try StoreArchive(storeURL: scene.store).previousVersions().first)
      var data = try Data(contentsOf: kept.storeURL)
      let page = try #require(data.range(of: Data("note 10 ".utf8))).lowerBound / 4096
      data.replaceSubrange(page * 4096..<page * 4096 + 100, with: Data(repeating: 0xA5, count: 100))
      try data.write(to: kept.storeURL)
      for question in ["verify", "doctor"] {
        let asked = scene.tool(question, scene.store.path)
        let command = try #require(PrintedCommand.all(in: asked.output).first { $0.words[0] == "salvage" }, "\(asked)")
        #expect(command.words[1] == kept.storeURL.path && command.placeholder == nil, "\(command)")
        #expect(scene.tool.run(command.words).code == 6, "\(command)")
        #expect(scene.tool("inspect", try #require(command.words.last)).code == 0)
      }
      #expect(try Data(contentsOf: kept.storeURL) == data)
    },
    Situation("an interrupted change is undone with the model that is given") { scene in
      try scene.makeStore(archives: false)
      try FileManager.default.createDirectory(atPath: scene.path("Copy"), withIntermediateDirectories: true)
      _ = try HotJournal(
        interrupting: "UPDATE ZNOTE SET ZTITLE = hex(zeroblob(3000))", ofStoreAt: scene.store, cachedPages: 1)
      let told = scene.run("doctor", scene.store.path)
      #expect(told.output.contains("give it the model that made the store with --to"), "\(told)")
      #expect(!told.output.contains("heirloom doctor"), "\(told)")
      scene.run("migrate", scene.store.path, "--to", scene.first)
    },
  ]
}
