import Foundation
import Heirloom
import TestSupport
import Testing

/// A folder with a store of the notebook and the models of its releases, where printed advice is followed.
struct AdviceScene {
  let directory: TemporaryDirectory
  let tool: Tool
  let store: URL
  /// The first three releases, as snapshots.
  let first: String
  let adding: String
  let dropping: String
  /// The folder of a history with a lock, for situations that have one.
  let history: String

  init() throws {
    directory = try TemporaryDirectory()
    // A name that a shell has to be given in quotes.
    let folder = directory.file("It's here")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    tool = Tool(directory: directory.url)
    store = folder.appendingPathComponent("Notebook.sqlite")
    first = try Notebook.write(Notebook.first(), "It's here/1", in: directory)
    adding = try Notebook.write(Notebook.adding(), "It's here/2", in: directory)
    dropping = try Notebook.write(Notebook.dropping(), "It's here/3", in: directory)
    history = folder.appendingPathComponent("History").path
  }

  /// Notes in a new store.
  static let rows: Int64 = 20

  /// The store is of the first release.
  func makeStore(archives: Bool = true) throws {
    _ = try Notebook.makeStore(
      in: directory, count: Int(Self.rows), archives: archives, name: "It's here/Notebook.sqlite")
  }

  @discardableResult func run(_ words: String..., at location: SourceLocation = #_sourceLocation) -> Tool.Outcome {
    let outcome = tool.run(words)
    #expect(outcome.code == 0, "\(words): \(outcome.output)\(outcome.error)", sourceLocation: location)
    return outcome
  }

  func makeMigratedStore() throws {
    try makeStore()
    run("migrate", store.path, "--to", adding)
  }

  /// Fixes models as shipped, in the history.
  func ship(_ models: String...) {
    for model in models { run("snapshot", model, "--history", history) }
  }

  func path(_ name: String) -> String { directory.file("It's here/" + name).path }

  func write(_ name: String, _ change: (inout EntityDescription) -> Void) throws -> String {
    var note = try #require(try Notebook.first().entity(named: "Note"))
    change(&note)
    return try Notebook.write(ManagedObjectModel(entities: [note]), "It's here/" + name, in: directory)
  }

  /// The versions have a note with the title and further texts.
  @discardableResult func writeBundle(_ versions: [(name: String, texts: [String])], current: String) throws -> String {
    let bundle = path("App.xcdatamodeld")
    try? FileManager.default.removeItem(atPath: bundle)
    for version in versions {
      let folder = "\(bundle)/\(version.name).xcdatamodel"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let texts = version.texts.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
      let text = """
        <?xml version="1.0"?><model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Note">
        <attribute name="title" attributeType="String"/>\(texts.joined())</entity></model>
        """
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/contents"))
    }
    let note = try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": "\(current).xcdatamodel"], format: .xml, options: 0)
    try note.write(to: URL(fileURLWithPath: bundle + "/.xccurrentversion"))
    return bundle
  }

  func version(_ name: String) -> String { path("App.xcdatamodeld/\(name).xcdatamodel") }

  func execute(_ statements: String...) throws {
    let connection = try Connection(path: store.path, mode: .readWrite)
    for statement in statements { _ = try connection.rows(statement) }
    try connection.close()
  }

  /// Of the second version of a bundle whose current version is the first.
  func makeNewerStore() throws {
    let versions = [("V1", ["mood"]), ("V2", ["mood", "rating"])]
    let bundle = try writeBundle(versions, current: "V1")
    run("snapshot", bundle, "--history", path(""))
    run("snapshot", version("V1"), "--output", path("V1.json"))
    try PersistentStore.make(at: store, model: ModelFile(path("V1.json")).read().model) { context in
      for number in 0..<Self.rows {
        let note = try context.insert("Note")
        (note["title"], note["mood"]) = (.string("note \(number)"), .string("merry"))
      }
    }
    try writeBundle(versions, current: "V2")
    run("migrate", store.path, "--to", bundle)
    run("snapshot", bundle, "--history", path(""))
  }

  /// Returns the folder of the notes' pictures, which are files of external data.
  func makeStoreWithFiles() throws -> String {
    let note = Make.entity("Note", [Make.attribute("title"), Make.attribute("picture", .binary, external: true)])
    let model = try ManagedObjectModel(entities: [note])
    try PersistentStore.make(at: store, model: model) { context in
      for number in 0..<Self.rows { try context.insert("Note")["title"] = .string("note \(number)") }
    }
    try ModelController(storeURL: store).archive(model)
    _ = try Notebook.write(model, "It's here/Files", in: directory)
    let support = path(".Notebook_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(atPath: support, withIntermediateDirectories: true)
    for key in 1...Self.rows {
      let name = UUID().uuidString
      try Data(repeating: UInt8(clamping: key), count: 2000).write(to: URL(fileURLWithPath: "\(support)/\(name)"))
      // A reference is the byte 2, the file's name and a zero.
      let reference = ([2] + Array(name.utf8) + [0]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      try execute("UPDATE ZNOTE SET ZPICTURE = x'\(reference)' WHERE Z_PK = \(key)")
    }
    run("verify", store.path)
    return support
  }

  func rootPage(of table: String) throws -> Int {
    let connection = try Connection(reading: store)
    defer { try? connection.close() }
    let page = try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'")
    return Int(clamping: try #require(page))
  }

  func damage(page: Int) throws {
    let handle = try FileHandle(forWritingTo: store)
    try handle.seek(toOffset: UInt64(clamping: (page - 1) * 4096))
    try handle.write(contentsOf: Data(repeating: 0xA5, count: 4096))
    try handle.close()
  }

  /// Runs a command that gives advice, follows what it printed, and asks again.
  ///
  /// The printed command begins with the words `start`, and may end with one of the exit codes. Then the original step
  /// has to work, which is the question itself if it is `nil`. A question is lasting if it names the command whenever it
  /// is asked.
  func follow(
    _ question: [String], _ start: String..., codes: Set<Int32> = [0], then original: [String]? = nil,
    isLasting: Bool = false, at location: SourceLocation = #_sourceLocation
  ) throws {
    func isMeant(_ command: PrintedCommand) -> Bool { command.words.starts(with: start) }
    let asked = tool.run(question)
    let printed = PrintedCommand.all(in: asked.output + asked.error).filter(isMeant)
    let command = try #require(printed.first, "\(question): \(asked)", sourceLocation: location)
    for command in printed {
      #expect(command.placeholder == nil, "\(command)", sourceLocation: location)
    }
    let followed = tool.run(command.words)
    #expect(codes.contains(Int32(followed.code)), "\(command): \(followed)", sourceLocation: location)
    let again = PrintedCommand.all(in: followed.output + followed.error)
    #expect(!again.contains(command), "\(command) names itself", sourceLocation: location)
    let ended = tool.run(original ?? question)
    #expect(ended.code == 0, "\(original ?? question): \(ended)", sourceLocation: location)
    guard !isLasting else { return }
    let repeated = tool.run(question)
    #expect(
      !PrintedCommand.all(in: repeated.output + repeated.error).contains(command),
      "\(command) is advised again: \(repeated)", sourceLocation: location)
  }

  /// Asks for a diagnosis, and runs the lines `before` and `next` that begin so: `heirloom` here, the others in a shell.
  func followInShell(_ question: [String], _ starts: [String]) throws {
    let json = try tool.run(question + ["--json"]).json()
    let lines = ["before", "next"].compactMap { json[$0] as? String }
    for start in starts { #expect(lines.contains { $0.hasPrefix(start) }, "\(json)") }
    for line in lines {
      if let command = PrintedCommand.all(in: line).first, line.hasPrefix("heirloom ") {
        let outcome = tool.run(command.words)
        #expect(outcome.code == 0, "\(line): \(outcome)")
      } else {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-e", "-c", line]
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0, "\(line)")
      }
    }
    let again = try tool.run(question + ["--json"]).json()
    #expect(again["next"] as? String != json["next"] as? String, "\(again)")
  }

  /// Runs a command that is refused, and again with the option that the refusal names, which is accepted.
  func take(
    _ question: [String], _ option: String, _ value: String..., then more: [String] = [],
    at location: SourceLocation = #_sourceLocation
  ) {
    let asked = tool.run(question)
    #expect(asked.code != 0 && (asked.output + asked.error).contains(option), "\(asked)", sourceLocation: location)
    let taken = tool.run(question + [option] + value + more)
    #expect(taken.code == 0, "\(question) \(option): \(taken)", sourceLocation: location)
  }

  /// Makes one more release, to which the store has to come with all its notes, by the history where there is one.
  func release(expecting rows: Int64 = rows, at location: SourceLocation = #_sourceLocation) throws {
    guard FileManager.default.fileExists(atPath: store.path) else { return }
    let inspection = try tool("inspect", store.path, "--json").json()
    let file = path("Now.json")
    #expect(inspection["modelFits"] as? Bool != false, sourceLocation: location)
    run("snapshot", store.path, "--output", file, at: location)
    var entities = try ModelFile(file).read().model.entities
    let place = try #require(entities.firstIndex { $0.name == "Note" }, sourceLocation: location)
    entities[place].attributes.append(Make.attribute("later"))
    let later = try Notebook.write(ManagedObjectModel(entities: entities), "It's here/9", in: directory)
    var destination = later
    if FileManager.default.fileExists(atPath: history + "/lock.json") {
      run("snapshot", later, "--history", history, at: location)
      destination = history
    }
    let outcome = tool("migrate", store.path, "--to", destination)
    #expect(outcome.code == 0, "one more release: \(outcome)", sourceLocation: location)
    let connection = try Connection(reading: store)
    defer { try? connection.close() }
    #expect(try connection.firstInteger("SELECT COUNT(*) FROM ZNOTE") == rows, sourceLocation: location)
    #expect(try connection.firstInteger("SELECT COUNT(ZLATER) FROM ZNOTE") == 0, sourceLocation: location)
    #expect(
      try connection.firstInteger("SELECT COUNT(DISTINCT ZTITLE) FROM ZNOTE") == rows, sourceLocation: location)
  }
}
