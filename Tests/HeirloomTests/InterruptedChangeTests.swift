import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing
import HeirloomSalvage

/// A journal beside the store: of an interrupted change, or planted there.
struct InterruptedChangeTests {
  enum Call: CaseIterable, Sendable {
    case migrate, launchUpToDate, archive, open, restore, restoreNewest, setAside
  }

  private let directory: TemporaryDirectory
  private let elsewhere: TemporaryDirectory
  private let store: URL
  private let foreign: URL

  init() throws {
    directory = try TemporaryDirectory()
    elsewhere = try TemporaryDirectory()
    store = directory.file("Flights.sqlite")
    foreign = elsewhere.file("letter.txt")
    try Data("dear diary".utf8).write(to: foreign)
    try FlightChange.makeStore(at: store)
    let connection = try Connection(path: store.path, mode: .readWrite)
    _ = try connection.firstValue("PRAGMA journal_mode=DELETE")
    try connection.close()
  }

  private func history(_ call: Call) throws -> ModelHistory {
    call == .migrate || call == .setAside
      ? try ModelHistory(current: FlightChange.renamed.after()) : try ModelHistory(current: FlightChange.before())
  }

  private func assistant(_ call: Call) throws -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    if call == .setAside { configuration.incompatibleStore = .setAside }
    return MigrationAssistant(store, try history(call), configuration)
  }

  private func run(_ call: Call) throws {
    switch call {
    case .migrate, .launchUpToDate, .setAside: _ = try assistant(call).migrateStore()
    case .archive: try ModelController(storeURL: store).archive(try FlightChange.before())
    case .open:
      var options = PersistentStoreOptions()
      options.migratesAutomatically = false
      try PersistentStore.open(at: store, history: try history(call), options: options).close()
    case .restore: _ = try assistant(call).archive.restorePreviousVersion("2")
    case .restoreNewest: _ = try assistant(call).archive.restorePreviousVersion()
    }
  }

  private func bytes(_ suffix: String = "") throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: store.path + suffix))
  }

  private func previous() throws -> [URL] {
    let folder = directory.file("Flights.sqlite.heirloom/previous")
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// Makes a previous version by migrating to it and putting the earlier bytes back.
  private func keepVersion() throws {
    let original = try bytes()
    _ = try assistant(.migrate).migrateStore()
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
    try original.write(to: store)
    #expect(try previous().count == 1)
  }

  @Test(arguments: PlantedJournal.allCases.filter { !$0.isSound }, Call.allCases)
  func `a journal that can't be of the store is not followed, and nothing is changed`(
    _ journal: PlantedJournal, _ call: Call
  ) throws {
    let restores = call == .restore || call == .restoreNewest
    if restores { try keepVersion() }
    let versions = try previous().map(\.lastPathComponent)
    try journal.plant(besideStoreAt: store, foreign: foreign)
    let before = (try bytes(), try bytes("-journal"))
    if restores || call == .setAside {
      // The store can't be kept as a version: it is set aside with its journal, unchanged.
      try run(call)
      let folder = directory.file("Flights.sqlite.heirloom/incompatible")
      let aside = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      let set = try #require(aside.first)
      #expect(try Data(contentsOf: set.appendingPathComponent("Flights.sqlite")) == before.0)
      #expect(try Data(contentsOf: set.appendingPathComponent("Flights.sqlite-journal")) == before.1)
      #expect(!FileManager.default.fileExists(atPath: store.path + "-journal"))
      if restores { #expect(try FlightChange.pilots(in: store) == FlightChange.names.union(FlightChange.ages)) }
    } else {
      let error = #expect(throws: MigrationAssistantError.self) { try run(call) }
      guard case .unreadableStore(let reason) = error, case .refusedJournal = reason.problem else {
        throw try #require(error)
      }
      #expect("\(reason)".contains("-journal") && reason.recoverySuggestion?.contains("salvage") == true)
      #expect(try [bytes(), bytes("-journal")] == [before.0, before.1])
    }
    #expect(try previous().map(\.lastPathComponent) == versions)
    #expect(try Data(contentsOf: foreign) == Data("dear diary".utf8))
    let incoming = directory.file("Flights.sqlite.heirloom/incoming").path
    #expect(((try? FileManager.default.contentsOfDirectory(atPath: incoming)) ?? []).isEmpty)
  }

  @Test(arguments: ["a symbolic link", "a folder", "a named pipe"], Call.allCases.filter { $0 != .setAside })
  func `what is no file in the journal's place is told as that, and left alone`(_ kind: String, _ call: Call) throws {
    if call == .restore || call == .restoreNewest { try keepVersion() }
    let before = try bytes()
    let path = store.path + "-journal"
    switch kind {
    case "a folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case "a named pipe": #expect(mkfifo(path, 0o600) == 0)
    default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: foreign.path)
    }
    let error = #expect(throws: (any Error).self) { try run(call) }
    let words = "\(try #require(error))"
    #expect(words.contains("-journal") && words.contains(kind.split(separator: " ").last ?? ""))
    #expect(try bytes() == before)
    #expect(try Data(contentsOf: foreign) == Data("dear diary".utf8))
  }

  @Test(arguments: [PlantedJournal.interrupted, .interruptedWithOthers], Call.allCases)
  func `a change that was interrupted is undone once the store is kept as it was`(
    _ journal: PlantedJournal, _ call: Call
  ) throws {
    let restores = call == .restore || call == .restoreNewest
    if restores { try keepVersion() }
    let versions = try previous()
    let sound = try bytes()
    try journal.plant(besideStoreAt: store, foreign: foreign)
    let before = (try bytes(), try bytes("-journal"))
    #expect(before.0 != sound)
    if call == .restore {
      _ = try assistant(call).archive.restorePreviousVersion(try #require(versions.first).lastPathComponent)
    } else {
      try run(call)
    }
    #expect(!FileManager.default.fileExists(atPath: store.path + "-journal"))
    #expect(try FlightChange.pilots(in: store) == FlightChange.names.union(FlightChange.ages))
    // This version holds the store as the change had left it, and the journal without names of others.
    let added = try previous().filter { !versions.contains($0) }
    let kept = try #require(added.first)
    #expect(try Data(contentsOf: kept.appendingPathComponent("Flights.sqlite")) == before.0)
    #expect(before.1.starts(with: try Data(contentsOf: kept.appendingPathComponent("Flights.sqlite-journal"))))
    // A migration, or a restoration, also keeps the store after the undoing.
    #expect(added.count == (call == .migrate || call == .setAside || restores ? 2 : 1))
    if added.count == 2 {
      #expect(try FlightChange.pilots(in: added[1].appendingPathComponent("Flights.sqlite")).count == 8)
    }
    let findings = try assistant(call).archive.previousVersions()
    #expect(findings.count == versions.count + added.count)
    // A second run finds nothing to undo.
    if call != .restore && call != .restoreNewest {
      try run(call)
      #expect(try previous().count == versions.count + added.count)
    }
    _ = try assistant(call).archive.restorePreviousVersion(kept.lastPathComponent)
    #expect(try FlightChange.pilots(in: store) == FlightChange.names.union(FlightChange.ages))
  }

  @Test func `what can't be kept with an interrupted change is reported`() throws {
    let folder = directory.file(".Flights_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: folder.appendingPathComponent("LINK"), withDestinationURL: foreign)
    try PlantedJournal.interrupted.plant(besideStoreAt: store, foreign: foreign)
    let (assistant, listener) = (try assistant(.launchUpToDate), ClosureDelegate())
    assistant.delegate = listener
    _ = try assistant.migrateStore()
    #expect(try previous().count == 1)
    #expect(listener.events.contains { if case .passedOver(count: 1, _) = $0 { true } else { false } })
  }

  @Test(arguments: Call.allCases)
  func `the journal of a change that was done is dropped, as SQLite does`(_ call: Call) throws {
    let restores = call == .restore || call == .restoreNewest
    if restores { try keepVersion() }
    try PlantedJournal.committed.plant(besideStoreAt: store, foreign: foreign)
    if call == .restore {
      _ = try assistant(call).archive.restorePreviousVersion(try #require(previous().first).lastPathComponent)
    } else {
      try run(call)
    }
    #expect(!FileManager.default.fileExists(atPath: store.path + "-journal"))
    #expect(try FlightChange.pilots(in: store) == FlightChange.names.union(FlightChange.ages))
  }

  @Test func `versions that an interrupted change left make no version of a migration go`() throws {
    var configuration = MigrationAssistant.Configuration()
    configuration.keptVersions = 1
    try keepVersion()
    let migration = try #require(try previous().first)
    for _ in 0..<3 {
      try PlantedJournal.interrupted.plant(besideStoreAt: store, foreign: foreign)
      _ = try assistant(.launchUpToDate).migrateStore()
    }
    #expect(try previous().count == 4)
    _ = try assistant(.launchUpToDate).migrateStore()
    let left = try previous()
    #expect(left.count == 2 && left.first == migration)
  }

  @Test(arguments: PlantedJournal.allCases)
  func `salvage reads the store, and what its journal names is left alone`(_ journal: PlantedJournal) throws {
    try journal.plant(besideStoreAt: store, foreign: foreign)
    let before = (try bytes(), try bytes("-journal"))
    let output = directory.file("Salvaged.sqlite")
    let report = try StoreSalvage(storeURL: store, models: [FlightChange.before()]).run(to: output)
    #expect(try FlightChange.pilots(in: output) == FlightChange.names.union(FlightChange.ages), "\(report)")
    #expect(try [bytes(), bytes("-journal")] == [before.0, before.1])
    #expect(try Data(contentsOf: foreign) == Data("dear diary".utf8))
  }
}

/// A `-wal` whose header or frames fail their checksums: SQLite silently drops the rest.
struct UnreadableLogTests {
  enum Damage: CaseIterable, Sendable {
    case header, headerSum, salts, frameBeforeCommit, lastFrame, cutShort

    /// True when committed changes are certainly lost; else the last one may never have been committed.
    var isCertain: Bool { self != .lastFrame && self != .cutShort }

    /// The number of frames of commits that SQLite doesn't reach.
    var lostCount: Int64 {
      switch self {
      case .header, .headerSum: 3
      case .salts, .frameBeforeCommit: 2
      case .lastFrame, .cutShort: 1
      }
    }
  }

  private let directory: TemporaryDirectory
  private let store: URL

  /// Makes flights, three of which have a new pilot, each by a commit of its own in the `-wal`.
  init() throws {
    directory = try TemporaryDirectory()
    store = directory.file("Flights.sqlite")
    try FlightChange.makeStore(at: store)
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in 1...3 {
      try connection.execute("UPDATE ZFLIGHT SET ZPILOTNAME = 'New \(number)' WHERE Z_PK = \(number)")
    }
    try connection.close()
  }

  private var log: URL { URL(fileURLWithPath: store.path + "-wal") }

  private func damage(_ damage: Damage) throws {
    var bytes = [UInt8](try Data(contentsOf: log))
    let frame = 24 + (Int(bytes[10]) << 8 | Int(bytes[11]))
    #expect((bytes.count - 32) / frame == 3)
    switch damage {
    case .header: bytes[13] ^= 1
    case .headerSum: bytes[25] ^= 1
    // They are not in the sum: SQLite stops at the second frame, whose bytes are right, and doesn't read the third.
    case .salts: bytes[32 + frame + 9] ^= 1
    case .frameBeforeCommit: bytes[32 + frame + 500] ^= 1
    case .lastFrame: bytes[32 + 2 * frame + 500] ^= 1
    case .cutShort: bytes.removeLast(100)
    }
    try Data(bytes).write(to: log)
  }

  private func assistant(stops: Bool = false, losses: LossPolicy = .keepVersion) throws -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    configuration.stopsAtUnreadableLog = stops
    configuration.losses = losses
    return MigrationAssistant(store, try ModelHistory(current: FlightChange.renamed.after()), configuration)
  }

  @Test(arguments: Damage.allCases)
  func `the log is kept with the version, the plan and the report say so, and salvage reads it`(
    _ damage: Damage
  ) throws {
    try self.damage(damage)
    let bytes = try Data(contentsOf: log)
    let isTold = { (warnings: [String]) in warnings.contains { $0.contains("\"-wal\"") } }
    #expect(isTold(try #require(try assistant().plan()).warnings))
    let report = try assistant().migrate()
    #expect(isTold(report.plan.warnings))
    let kept = report.previousVersion.storeURL
    #expect(try Data(contentsOf: URL(fileURLWithPath: kept.path + "-wal.unread")) == bytes)
    #expect((try? Data(contentsOf: log)) != bytes)
    // Whatever the log still tells is not lost.
    let output = directory.file("Salvaged.sqlite")
    _ = try StoreSalvage(storeURL: kept, models: [FlightChange.before()]).run(to: output)
    let names = try FlightChange.pilots(in: output)
    if [.header, .headerSum, .salts].contains(damage) { #expect(names.contains("New 2")) }
    #expect(names.contains("New 1") && (damage.isCertain ? names.contains("New 3") : names.contains("New 2")))
  }

  @Test(arguments: Damage.allCases, [LossPolicy.keepVersion, .accept])
  func `what only the log holds is a loss, and its version stays until a person releases it`(
    _ damage: Damage, _ policy: LossPolicy
  ) throws {
    try self.damage(damage)
    let loss = try #require(try assistant(losses: policy).plan()?.losses.first)
    #expect(loss.entity == "Flights.sqlite-wal" && loss.property == nil && loss.rows == damage.lostCount)
    #expect(loss.amount.contains("frame") && loss.consent == (policy == .accept ? .configuration : nil))
    let report = try assistant(losses: policy).migrate()
    #expect(report.plan.losses == [loss])
    #expect(report.previousVersion.isPinned)
    #expect(report.previousVersion.alone.map(\.rows) == [damage.lostCount])
    let archive = StoreArchive(storeURL: store)
    let kept = URL(fileURLWithPath: report.previousVersion.storeURL.path + "-wal.unread")
    // Migrations there and back, and launches: more versions than are kept.
    var accepting = MigrationAssistant.Configuration()
    (accepting.losses, accepting.migratesUnknownVersions) = (.accept, true)
    for model in [FlightChange.dropped, .renamed, .dropped] {
      for _ in 0..<2 {
        _ = try MigrationAssistant(store, try ModelHistory(current: model.after()), accepting).migrateStore()
      }
    }
    #expect(FileManager.default.fileExists(atPath: kept.path))
    #expect(try archive.previousVersions().contains { $0.id == report.previousVersion.id && $0.isPinned })
    try archive.releasePreviousVersion(report.previousVersion.id)
    _ = try MigrationAssistant(store, try ModelHistory(current: FlightChange.dropped.after())).migrateStore()
    #expect(!FileManager.default.fileExists(atPath: kept.path))
  }

  @Test(arguments: Damage.allCases)
  func `without consent the policy stops, and nothing is changed`(_ damage: Damage) throws {
    try self.damage(damage)
    let before = (try Data(contentsOf: store), try Data(contentsOf: log))
    let error = #expect(throws: MigrationAssistantError.self) { try assistant(losses: .stop).migrateStore() }
    guard case .lossesNotConsented(_, let plan) = error else { throw try #require(error) }
    #expect(plan.unconsentedLosses.map(\.rows) == [damage.lostCount])
    #expect(try [Data(contentsOf: store), Data(contentsOf: log)] == [before.0, before.1])
  }

  @Test func `a store that is restored over keeps its log as well`() throws {
    try assistant().migrate()
    let version = try #require(try StoreArchive(storeURL: store).previousVersions().first)
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    _ = try connection.firstValue("PRAGMA journal_mode=WAL")
    for number in 1...3 { try connection.execute("UPDATE ZFLIGHT SET ZNAME = 'Late \(number)' WHERE Z_PK = \(number)") }
    try connection.close()
    var bytes = [UInt8](try Data(contentsOf: log))
    bytes[600] ^= 1
    try Data(bytes).write(to: log)
    _ = try assistant().archive.restorePreviousVersion(version.id)
    let kept = try #require(try StoreArchive(storeURL: store).previousVersions().first { $0.id != version.id })
    #expect(kept.isPinned && kept.alone.contains { $0.entity == "Flights.sqlite-wal" && $0.rows == 3 })
    #expect(try Data(contentsOf: URL(fileURLWithPath: kept.storeURL.path + "-wal.unread")) == Data(bytes))
  }

  @Test func `a log that waits from an interrupted run is a loss of the next one`() throws {
    try damage(.frameBeforeCommit)
    let bytes = try Data(contentsOf: log)
    // A run died after it had copied the log, and SQLite has dropped the rest of it since.
    let companion = directory.file("Flights.sqlite.heirloom")
    try FileManager.default.createDirectory(at: companion, withIntermediateDirectories: true)
    try bytes.write(to: companion.appendingPathComponent("wal.unread"))
    let connection = try Connection(path: store.path, mode: .readWrite)
    _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    try connection.close()
    #expect(try assistant().plan()?.losses.map(\.rows) == [2])
    let report = try assistant().migrate()
    #expect(report.previousVersion.isPinned && report.plan.losses.map(\.rows) == [2])
    #expect(try Data(contentsOf: URL(fileURLWithPath: report.previousVersion.storeURL.path + "-wal.unread")) == bytes)
  }

  @Test func `two logs of one size and one header are both kept, and an unfinished copy is removed`() throws {
    try damage(.frameBeforeCommit)
    let bytes = try Data(contentsOf: log)
    let companion = directory.file("Flights.sqlite.heirloom")
    try FileManager.default.createDirectory(at: companion, withIntermediateDirectories: true)
    var earlier = bytes
    earlier[earlier.count - 1] ^= 1
    try earlier.write(to: companion.appendingPathComponent("wal.unread"))
    try earlier.write(to: companion.appendingPathComponent("wal.unread-12345678.tmp"))
    let report = try assistant().migrate()
    let folder = report.previousVersion.storeURL.deletingLastPathComponent()
    let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("-wal.unread") }
    #expect(try Set(kept.map { try Data(contentsOf: folder.appendingPathComponent($0)) }) == [bytes, earlier])
    let left = try FileManager.default.contentsOfDirectory(atPath: companion.path)
    #expect(!left.contains { $0.hasPrefix("wal.unread") }, "\(left)")
  }

  @Test(arguments: Damage.allCases)
  func `by the setting nothing is changed`(_ damage: Damage) throws {
    try self.damage(damage)
    let before = (try Data(contentsOf: store), try Data(contentsOf: log))
    let error = #expect(throws: MigrationAssistantError.self) { try assistant(stops: true).migrateStore() }
    #expect("\(try #require(error))".contains("\"-wal\""))
    #expect(try [Data(contentsOf: store), Data(contentsOf: log)] == [before.0, before.1])
  }

  @Test func `however many frames are damaged, one of this use after them tells`() throws {
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    for number in 1...90 { try connection.execute("UPDATE ZFLIGHT SET ZPILOTNAME = 'Late \(number)' WHERE Z_PK = 4") }
    try connection.close()
    var bytes = [UInt8](try Data(contentsOf: log))
    let frame = 24 + (Int(bytes[10]) << 8 | Int(bytes[11]))
    bytes.replaceSubrange(32 + 2 * frame..<32 + 80 * frame, with: [UInt8](repeating: 0, count: 78 * frame))
    try Data(bytes).write(to: log)
    let warnings = try #require(try assistant().plan()).warnings
    // The sum of the first frame after them continues one of them.
    #expect(warnings.contains { $0.contains("79 of 93 pages in the \"-wal\"") }, "\(warnings)")
  }

  @Test func `frames of an earlier use are no damage`() throws {
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    // The log begins anew with one frame, and the two frames after it are from its earlier use.
    _ = try connection.rows("PRAGMA wal_checkpoint(RESTART)")
    try connection.execute("UPDATE ZFLIGHT SET ZPILOTNAME = 'Newest' WHERE Z_PK = 4")
    try connection.close()
    #expect(try #require(try assistant().plan()).warnings.allSatisfy { !$0.contains("-wal") })
    let report = try assistant(stops: true).migrate()
    #expect(!FileManager.default.fileExists(atPath: report.previousVersion.storeURL.path + "-wal.unread"))
  }
}
