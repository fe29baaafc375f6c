import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The status of a store for extensions and second processes, without a lock and without a byte written.
struct StoreStatusTests {
  private struct Scene {
    let directory: TemporaryDirectory
    let old: ManagedObjectModel
    let new: ManagedObjectModel
    var store: URL { directory.file("Journal.sqlite") }

    init() throws {
      directory = try TemporaryDirectory()
      old = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
      new = try ManagedObjectModel(
        entities: [Make.entity("Item", [Make.attribute("name"), Make.attribute("more")])])
    }

    func fill(_ model: ManagedObjectModel) throws {
      try PersistentStore.create(at: store, model: model).close()
    }

    /// Asks for the status twice, and checks that this left nothing.
    func status(
      _ current: ManagedObjectModel, earlier: [(name: String, model: ManagedObjectModel)] = [],
      later: [(name: String, model: ManagedObjectModel)] = [], at url: URL? = nil
    ) throws -> StoreStatus {
      let url = url ?? store
      let assistant = MigrationAssistant(url, ModelHistory(current: current, earlier: earlier, later: later))
      let picture = FolderPicture(of: directory.url)
      let status = try assistant.status()
      #expect(try assistant.status() == status)
      #expect(FolderPicture(of: directory.url).differences(from: picture) == [])
      return status
    }
  }

  @Test func `each status is told, and the look leaves nothing`() throws {
    let scene = try Scene()
    #expect(try scene.status(scene.new) == .noStore)
    #expect(try scene.status(scene.new, at: scene.directory.file("no/such/folder/Journal.sqlite")) == .noStore)
    try scene.fill(scene.old)
    #expect(try scene.status(scene.old) == .current)
    #expect(try scene.status(scene.new, earlier: [("1", scene.old)]) == .tooOld)
    let other = try ManagedObjectModel(entities: [Make.entity("Other", [Make.attribute("name")])])
    #expect(try scene.status(other, later: [("2", scene.old)]) == .tooNew)
    #expect(try scene.status(other) == .unknown)
    try ModelController(storeURL: scene.store).archive(scene.old)
    #expect(try scene.status(scene.new) == .tooOld)
  }

  @Test func `a store that is closed while the device is locked is told apart, and stays where it is`() throws {
    let scene = try Scene()
    let device = LockedDevice()
    let store = scene.directory.file("\(device.folderName)/Journal.sqlite")
    try FileManager.default.createDirectory(
      at: store.deletingLastPathComponent(), withIntermediateDirectories: true)
    try PersistentStore.create(at: store, model: scene.old).close()
    var configuration = MigrationAssistant.Configuration()
    // An app that sets incompatible stores aside must not do so with one that is only protected.
    configuration.incompatibleStore = .setAside
    let assistant = MigrationAssistant(store, from: scene.old, to: scene.new, configuration)
    let picture = FolderPicture(of: scene.directory.url)
    try device.whileLocked { () throws in
      #expect(try scene.status(scene.new, earlier: [("1", scene.old)], at: store) == .protected)
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      guard case .unreadableStore(let reason) = error, reason.problem == .protected else {
        Issue.record("\(error.map { "\($0)" } ?? "no error")")
        return
      }
      #expect(reason.advice.contains("unlocked") && reason.coreDataCode == 256)
      #expect(throws: (any Error).self) {
        try PersistentStore.open(at: store, history: ModelHistory(current: scene.new, earlier: [("1", scene.old)]))
      }
    }
    #expect(FolderPicture(of: scene.directory.url).differences(from: picture) == [])
    guard case .migrated = try assistant.migrateStore() else {
      Issue.record("it is migrated once the device is unlocked")
      return
    }
  }

  @Test(arguments: ["manifest.json", "incoming/0123456789abcdef0123456789abcdef"])
  func `what a killed run left counts as in progress, until a launch settles it`(name: String) throws {
    let scene = try Scene()
    try scene.fill(scene.old)
    let path = scene.store.path + ".heirloom/" + name
    if name.hasPrefix("incoming") {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } else {
      try FileManager.default.createDirectory(
        atPath: scene.store.path + ".heirloom", withIntermediateDirectories: true)
      try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
    }
    #expect(try scene.status(scene.old) == .inProgress)
    #expect(try scene.status(scene.new) == .inProgress)
  }

  @Test func `a store in rollback mode and one that an app has open are read as well`() throws {
    let scene = try Scene()
    try scene.fill(scene.old)
    let connection = try Connection(path: scene.store.path, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = DELETE")
    #expect(try scene.status(scene.old) == .current)
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute("CREATE TABLE APPLOG (line)")
    try connection.execute("BEGIN IMMEDIATE")
    try connection.execute("INSERT INTO APPLOG VALUES ('unsaved')")
    #expect(try scene.status(scene.old) == .current)
    try connection.execute("ROLLBACK")
    try connection.close()
  }

  @Test func `what is no store is an error, as it is for the app`() throws {
    let scene = try Scene()
    try Data("no store at all, but something".utf8).write(to: scene.store)
    let error = try #require(throws: MigrationAssistantError.self) { try scene.status(scene.new) }
    #expect(error.code == "unreadableStore")
  }
}

/// The same while another process migrates the store.
@Suite(.enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"), .serialized)
struct StoreStatusProcessTests {
  private static let models = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Snapshots/Done")

  @Test(arguments: [SIGCONT, SIGKILL])
  func `while another process migrates, or after it died, the status says so`(signal: Int32) throws {
    let history = try ModelHistory(contentsOf: Self.models)
    let first = try #require(try history.model(named: "Done"))
    var isSeen = false
    // A run that was quicker than the inspection is repeated with more to do.
    for attempt in 0..<20 where !isSeen {
      let directory = try TemporaryDirectory()
      let store = directory.file("Done.sqlite")
      try StoreGenerator.makeStore(at: store, model: first, objects: 500 << min(attempt, 5), seed: UInt64(attempt))
      let assistant = MigrationAssistant(store, history)
      #expect(try assistant.status() == .tooOld)
      let process = Process()
      process.executableURL = BuiltTool.url
      process.arguments = ["migrate", store.path, "--to", Self.models.path]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      // Names are read at once; a whole inspection can take as long as a migration if the machine is busy.
      let incoming = store.path + ".heirloom/incoming"
      while process.isRunning, (try? FileManager.default.contentsOfDirectory(atPath: incoming))?.isEmpty != false {}
      _ = kill(process.processIdentifier, SIGSTOP)
      isSeen = try assistant.status() == .inProgress
      if isSeen {
        let picture = FolderPicture(of: directory.url)
        let begin = ContinuousClock.now
        for _ in 0..<10 { #expect(try assistant.status() == .inProgress) }
        #expect(begin.duration(to: .now) < .seconds(2))
        #expect(FolderPicture(of: directory.url).differences(from: picture) == [])
      }
      _ = kill(process.processIdentifier, signal)
      if signal == SIGKILL { _ = kill(process.processIdentifier, SIGCONT) }
      process.waitUntilExit()
      if isSeen, signal == SIGKILL {
        #expect(try assistant.status() == .inProgress)
        _ = try assistant.migrateStore()
      }
      #expect(try assistant.status() == .current)
      withExtendedLifetime(directory) {}
    }
    #expect(isSeen)
  }
}
