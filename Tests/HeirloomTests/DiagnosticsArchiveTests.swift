import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// Archives for a support mail: they are made whatever the store's state, and reveal nothing from a row.
struct DiagnosticsArchiveTests {
  private static func files(of archive: URL) throws -> [String: [UInt8]] {
    let bytes = try Compression.gunzip([UInt8](Data(contentsOf: archive)))
    #expect(bytes.count % 512 == 0)
    var files: [String: [UInt8]] = [:]
    var offset = 0
    while offset + 512 <= bytes.count, bytes[offset] != 0 {
      let header = bytes[offset..<(offset + 512)]
      let name = String(decoding: header.prefix(100).prefix { $0 != 0 }, as: UTF8.self)
      let digits = String(decoding: header.dropFirst(124).prefix(11), as: UTF8.self)
      let size = try #require(Int(digits, radix: 8))
      offset += 512
      files[name] = Array(bytes[offset..<(offset + size)])
      offset += (size + 511) / 512 * 512
    }
    return files
  }

  private static func report(_ files: [String: [UInt8]]) throws -> [String: Any] {
    let bytes = try #require(files["diagnostics/report.json"])
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  private static func assistant(
    _ store: URL, _ current: ManagedObjectModel, earlier: [(name: String, model: ManagedObjectModel)] = [],
    later: [(name: String, model: ManagedObjectModel)] = []
  ) -> MigrationAssistant {
    return MigrationAssistant(
      store, ModelHistory(current: current, earlier: earlier, later: later), .init(storeTimeout: .seconds(0.2)))
  }

  // MARK: No values

  private struct Secret: Error, CustomStringConvertible {
    var description: String { "the app says Canary" }
  }

  @Test func `nothing of a row, of the app's words or of where the store lies is in it`() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("Canary's folder \"é\"")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = folder.appendingPathComponent("Journal.sqlite")
    var photo = Make.attribute("photo", .binary, external: true)
    photo.isOptional = true
    let old = try ManagedObjectModel(
      entities: [Make.entity("Item", [Make.attribute("name"), Make.attribute("number", .integer64), photo])])
    let new = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
    let opened = try PersistentStore.create(at: store, model: old)
    let context = ManagedObjectContext(store: opened)
    for number in 0..<40 {
      let item = try context.insert("Item")
      try item.setValue(.string("Canary \(number)"), forAttribute: "name")
      try item.setValue(.binary(Array("Canary in bytes".utf8)), forAttribute: "photo")
    }
    try context.save()
    try opened.connection.execute("UPDATE ZITEM SET ZNUMBER = 'Canary' WHERE Z_PK = 3")
    try opened.connection.execute("CREATE TABLE APPLOG (line)")
    try opened.connection.execute("INSERT INTO APPLOG VALUES ('Canary sang')")
    try opened.close()
    try ModelController(storeURL: store).archive(old)
    let support = folder.appendingPathComponent(".Journal_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
    try Data("Canary".utf8).write(to: support.appendingPathComponent("Canary.jpg"))

    let assistant = Self.assistant(store, new, earlier: [("1", old)])
    assistant.delegate = ClosureDelegate(decision: { _ in throw Secret() })
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect("\(try #require(error))".contains("Canary"))
    let picture = FolderPicture(of: folder)
    let archive = directory.file("support.tar.gz")
    try assistant.archive.makeDiagnosticsArchive(at: archive)
    // Apple's SQLite has left a -shm, whose bytes change with each reader.
    let now = FolderPicture(of: folder)
    #expect(now.names == picture.names && now.differences(from: picture).allSatisfy { $0.hasSuffix("-shm") })
    let files = try Self.files(of: archive)
    #expect(
      files.keys.sorted() == [
        "diagnostics/README.txt", "diagnostics/model.json", "diagnostics/report.json", "diagnostics/schema.sql",
      ])
    for (name, bytes) in files {
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.range(of: "canary", options: .caseInsensitive) == nil, "\(name)")
      #expect(!text.contains(directory.url.path), "\(name)")
    }
    let report = try Self.report(files)
    #expect(report["status"] as? String == "tooOld")
    #expect((report["entities"] as? [[String: Any]])?.map { $0["rows"] as? Int } == [40])
    let findings = try #require(report["findings"] as? [[String: Any]])
    #expect(findings.contains { $0["kind"] as? String == "wrongValueType" })
    let events = try #require(report["events"] as? [[String: Any]]).compactMap { $0["text"] as? String }
    #expect(events.contains { $0.contains("The app stopped the migration: Secret") })
    #expect(report["externalFiles"] as? Int == 1)
    let metadata = try #require(report["metadata"] as? [String: Any])
    #expect(metadata["versionChecksum"] as? String == old.versionChecksum())
    #expect(files["diagnostics/schema.sql"].map { String(decoding: $0, as: UTF8.self) }?.contains("ZITEM") == true)
    let model = try ModelSnapshot(bytes: try #require(files["diagnostics/model.json"])).model
    #expect(model.versionHashes() == old.versionHashes())
    #expect(try FileManager.default.attributesOfItem(atPath: archive.path)[.posixPermissions] as? Int == 0o600)
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence))
  func `no text of a real store's rows is in it`() throws {
    let paths = Corpus.storePaths.enumerated().filter { LongTests.areOn || $0.offset % 5 == 0 }.map(\.element)
    var checked = 0
    var skipped = 0
    // The report's own words are not rows either.
    let place = try TemporaryDirectory()
    let words = try Self.wordsOfReport(in: place)
    for path in paths {
      let directory = try TemporaryDirectory()
      let store = try Corpus.copyStore(path, to: directory)
      guard let metadata = try? StoreMetadata(contentsOf: store), !metadata.versionHashes.isEmpty else { continue }
      let archive = directory.file("support.tar.gz")
      let empty = try ManagedObjectModel(entities: [])
      try Self.assistant(store, empty).archive.makeDiagnosticsArchive(at: archive)
      let files = try Self.files(of: archive)
      let report = String(decoding: try #require(files["diagnostics/report.json"]), as: UTF8.self)
      // Names of the schema and the model are not rows, even if rows have the same words.
      let names = files.filter { $0.key != "diagnostics/report.json" }.values
        .map { String(decoding: $0, as: UTF8.self) }.joined()
      for text in try Self.texts(of: store) {
        if names.contains(text) || words.contains(text) {
          skipped += 1
        } else {
          checked += 1
          #expect(!report.contains(text), "\(path)")
        }
      }
    }
    print(
      "diagnostics of \(paths.count) real stores: \(checked) texts of rows looked for, \(skipped) are names as well")
    #expect(checked > 300 && skipped * 5 < checked)
  }

  private static func wordsOfReport(in directory: TemporaryDirectory) throws -> String {
    let model = try ManagedObjectModel(entities: [Make.entity("Item", [])])
    let store = directory.file("Empty.sqlite")
    try PersistentStore.create(at: store, model: model).close()
    let archive = directory.file("support.tar.gz")
    try assistant(store, model).archive.makeDiagnosticsArchive(at: archive)
    return String(decoding: try #require(try files(of: archive)["diagnostics/report.json"]), as: UTF8.self)
  }

  /// Only texts that are long enough to be told from others.
  private static func texts(of store: URL) throws -> Set<String> {
    let connection = try Connection(reading: store, options: .inspecting)
    var texts: Set<String> = []
    for table in try ActualSchema(of: connection).tables
    where !table.isVirtual && !table.name.hasPrefix("Z_") && !table.name.hasPrefix("sqlite_") {
      for row in try connection.rows("SELECT * FROM \(quote(table.name)) LIMIT 200") {
        for value in row {
          guard let text = value.text, text.count >= 6, text.contains(where: \.isLetter) else { continue }
          texts.insert(String(text.prefix(200)))
        }
      }
    }
    return texts
  }

  // MARK: Whatever state

  enum State: String, CaseIterable, Sendable {
    case sound, missing, empty, noDatabase, truncated, damaged, held, newer, unfinished
  }

  @Test(arguments: State.allCases)
  func `it is made whatever the store's state, and leaves everything as it is`(state: State) throws {
    // A run waits for what a holder keeps locked.
    try Connection.usualBusyTimeout.withValue(200) { try check(state) }
  }

  private func check(_ state: State) throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("app")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = folder.appendingPathComponent("Journal.sqlite")
    let model = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
    let other = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("other")])])
    if state != .missing {
      try StoreGenerator.makeStore(at: store, model: model, objects: 300, seed: 1)
    }
    var holder: Connection?
    var status = "current"
    switch state {
    case .sound: break
    case .missing: status = "noStore"
    case .empty:
      try Data().write(to: store)
      status = "unreadable"
    case .noDatabase:
      try Data(repeating: 7, count: 9000).write(to: store)
      status = "unreadable"
    case .truncated:
      try Data(contentsOf: store).prefix(8192).write(to: store)
      status = "unreadable"
    case .damaged:
      var bytes = try Data(contentsOf: store)
      let connection = try Connection(reading: store)
      let root = Int(
        try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'ZITEM'") ?? 0)
      try connection.close()
      for offset in 0..<4096 { bytes[(root - 1) * 4096 + offset] = 0xA5 }
      try bytes.write(to: store)
    case .held:
      holder = try Connection(path: store.path, mode: .readWrite)
      try holder?.execute("BEGIN EXCLUSIVE")
      status = "unreadable"
    case .newer: status = "tooNew"
    case .unfinished:
      try FileManager.default.createDirectory(
        atPath: store.path + ".heirloom/incoming/0123456789abcdef0123456789abcdef", withIntermediateDirectories: true)
      status = "inProgress"
    }
    let assistant = Self.assistant(
      store, state == .newer ? other : model, later: state == .newer ? [("2", model)] : [])
    let picture = FolderPicture(of: folder)
    for includesStore in [false, true] {
      let archive = directory.file("support \(includesStore).tar.gz")
      try assistant.archive.makeDiagnosticsArchive(at: archive, includeStore: includesStore)
      let files = try Self.files(of: archive)
      let report = try Self.report(files)
      #expect(report["status"] as? String == status)
      let problems = try #require(report["problems"] as? [String])
      let findings = try #require(report["findings"] as? [[String: Any]])
      #expect(problems.isEmpty == [.sound, .missing, .newer, .unfinished].contains(state), "\(problems)")
      if state == .damaged { #expect(findings.contains { $0["kind"] as? String == "damaged" }) }
      let copy = files["store/Journal.sqlite"]
      #expect(copy.map { Data($0) } == (includesStore ? try? Data(contentsOf: store) : nil))
      #expect(files["store/problems.txt"] == nil)
      // Existing files are never replaced, and no half-written file is left.
      let error = #expect(throws: MigrationAssistantError.self) {
        try assistant.archive.makeDiagnosticsArchive(at: archive, includeStore: includesStore)
      }
      #expect(error?.code == "unfitLocation")
    }
    #expect(FolderPicture(of: folder).differences(from: picture) == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).allSatisfy { !$0.contains("tmp") })
    // SQLite's locks of this process are still there.
    try holder?.execute("UPDATE ZITEM SET ZNAME = 'changed'")
    try holder?.execute("COMMIT")
    try holder?.close()
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tar"), "there is no tar"))
  func `any tar unpacks it, long names and large files included`() throws {
    let directory = try TemporaryDirectory()
    let name = String(repeating: "long ", count: 30) + "Journal.sqlite"
    let store = directory.file(name)
    let model = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
    let opened = try PersistentStore.create(at: store, model: model)
    let context = ManagedObjectContext(store: opened)
    for number in 0..<3000 {
      try context.insert("Item").setValue(
        .string(String(repeating: "\(number * 7919) ", count: 90)), forAttribute: "name")
    }
    try context.save()
    // The commits are only in the -wal, and stay there while the archive is made.
    let archive = directory.file("support.tar.gz")
    try Self.assistant(store, model).archive.makeDiagnosticsArchive(at: archive, includeStore: true)
    let before = try StoreContents(of: store, model: model)
    try opened.close()
    let unpacked = directory.file("unpacked")
    try FileManager.default.createDirectory(at: unpacked, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/tar")
    process.arguments = ["-xzf", archive.path, "-C", unpacked.path]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let copy = unpacked.appendingPathComponent("store/\(name)")
    #expect(try StoreContents(of: copy, model: model) == before)
    #expect(before.count == 3000)
  }

  @Test func `a store that was set aside is packed beside the new one in its place`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Journal.sqlite")
    let model = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
    let bytes = Data("no store at all, but what a person misses".utf8)
    try bytes.write(to: store)
    let assistant = MigrationAssistant(store, ModelHistory(current: model), .init(incompatibleStore: .setAside))
    guard case .setAside(let notice) = try assistant.migrateStore() else {
      Issue.record("not set aside")
      return
    }
    try PersistentStore.create(at: store, model: model).close()
    let folder = "set-aside/\(notice.id)"
    for includesStore in [false, true] {
      let archive = directory.file("support \(includesStore).tar.gz")
      try assistant.archive.makeDiagnosticsArchive(at: archive, includeStore: includesStore)
      let files = try Self.files(of: archive)
      #expect(files["\(folder)/Journal.sqlite"].map { Data($0) } == (includesStore ? bytes : nil))
      #expect(files["store/Journal.sqlite"].map { Data($0) } == (includesStore ? try Data(contentsOf: store) : nil))
      let readMe = String(decoding: try #require(files["diagnostics/README.txt"]), as: UTF8.self)
      #expect(readMe.contains("The folder \(folder) holds") == includesStore, "\(readMe)")
      let aside = try #require(try Self.report(files)["aside"] as? [[String: Any]])
      #expect(aside.map { $0["id"] as? String } == [notice.id])
      #expect(aside.map { $0["folder"] as? String } == [includesStore ? folder : nil])
    }
  }

  @Test func `only the newest events are kept`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Journal.sqlite")
    try Data("no store at all, but something".utf8).write(to: store)
    let model = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
    let assistant = Self.assistant(store, model)
    for number in 0..<250 {
      _ = try? assistant.archive.restorePreviousVersion("\(number)")
      _ = try? assistant.migrateStore()
    }
    let archive = directory.file("support.tar.gz")
    try assistant.archive.makeDiagnosticsArchive(at: archive)
    let report = try Self.report(Self.files(of: archive))
    #expect((report["events"] as? [Any])?.count == 200)
    #expect(report["droppedEvents"] as? Int ?? 0 > 100)
  }
}
