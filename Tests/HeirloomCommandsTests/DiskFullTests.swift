import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// Volumes that fill up: at the check of space, and at every step after it.
///
/// Every fourth size runs with every `swift test`, all of them with `HEIRLOOM_LONG_TESTS=1`.
@Suite(.enabled(if: MountedVolume.isPossible, MountedVolume.absence))
struct DiskFullTests {
  private static func assistant(
    _ field: FieldStore, _ store: URL, files: any FileOperations = POSIXFileOperations()
  ) throws -> MigrationAssistant {
    MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store, files: files),
      history: try ModelHistory(contentsOf: field.models), configuration: .init(), files: files)
  }

  /// A failure's name, with the place where the space ran out; any other error is a finding.
  private static func reason(_ error: any Error, _ comment: Comment) -> String {
    guard let error = error as? MigrationAssistantError else {
      Issue.record("not an error of the assistant's: \(error)")
      return "\(error)"
    }
    // Core Data's code for a full disk, by which an app tells its user.
    #expect(error.coreDataCode == 640, "\(error) \(comment)")
    #expect(!error.description.isEmpty && error.recoverySuggestion != nil)
    let words = ["sync", "link", "make the folder", "write the new", "copy", "SQLite", "disk", " left, and "]
    return error.code + words.filter(error.description.contains).prefix(1).map { " (\($0))" }.joined()
  }

  // MARK: Bytes

  @Test(arguments: FieldStore.Shape.allCases)
  func `wherever the volume is full, the store is the old one, and the next run with room completes`(
    shape: FieldStore.Shape
  ) throws {
    let field = try FieldStore(shape)
    let volume = try MountedVolume(options: "size=64k")
    var tally = RunTally()
    var size = (field.byteCount + 4095) / 4096 * 4
    while tally.succeeded < 3 {
      try volume.clear()
      try volume.remount("size=\(size)k")
      let store = try field.place(in: volume.url)
      do {
        _ = try Self.assistant(field, store, files: RoomyFiles()).migrateStore()
        tally.add(nil)
      } catch {
        tally.add(Self.reason(error, "\(size) KiB"))
        #expect(field.isOld(store), "\(size) KiB: \(error)")
        #expect(field.previousVersions(of: store).isEmpty, "\(size) KiB: \(error)")
        try volume.remount("size=16m")
        _ = try Self.assistant(field, store, files: RoomyFiles()).migrateStore()
      }
      field.checkMigrated(store, "\(size) KiB")
      size += LongTests.areOn ? 4 : 16
      try #require(size < 16_384)
    }
    print("disk full, migrate, \(shape): \(tally)")
    #expect(tally.failed > 3)
  }

  @Test(arguments: FieldStore.Shape.allCases)
  func `a restore that runs out of room leaves the store, and completes with room`(shape: FieldStore.Shape) throws {
    let field = try FieldStore(shape)
    let volume = try MountedVolume(options: "size=16m")
    var tally = RunTally()
    var room = 0
    while tally.succeeded < 3 {
      try volume.clear()
      let store = try field.place(in: volume.url)
      _ = try Self.assistant(field, store, files: RoomyFiles()).migrateStore()
      try Self.fill(volume.url, leaving: room)
      do {
        _ = try Self.assistant(field, store, files: RoomyFiles()).archive.restorePreviousVersion()
        tally.add(nil)
      } catch {
        tally.add(Self.reason(error, "\(room) KiB"))
        #expect(field.isMigrated(store), "\(room) KiB: \(error)")
        #expect(field.previousVersions(of: store).count == 1)
        try FileManager.default.removeItem(at: volume.url.appendingPathComponent("filler"))
        _ = try Self.assistant(field, store, files: RoomyFiles()).archive.restorePreviousVersion()
      }
      try? FileManager.default.removeItem(at: volume.url.appendingPathComponent("filler"))
      #expect(field.isOld(store), "\(room) KiB")
      let versions = field.previousVersions(of: store)
      #expect(versions.count == 2)
      #expect(versions.first.map(field.isOld) == true)
      #expect(versions.last.map(field.isMigrated) == true)
      #expect(field.litter(beside: store) == [])
      room += LongTests.areOn ? 4 : 16
      try #require(room < 16_384)
    }
    print("disk full, restore, \(shape): \(tally)")
    #expect(tally.failed > 3)
  }

  @Test func `a restore without room to take the -wal in leaves the store where it is, commits included`() throws {
    let field = try FieldStore(.wal)
    let volume = try MountedVolume(options: "size=16m")
    var tally = RunTally()
    var room = 0
    while tally.succeeded < 2 {
      try volume.clear()
      let store = try field.place(in: volume.url)
      let assistant = try Self.assistant(field, store, files: RoomyFiles())
      _ = try assistant.migrateStore()
      // The app continues and dies before its next checkpoint.
      try field.log(lines: 40, in: store)
      let written = try field.contents(of: store)
      try Self.fill(volume.url, leaving: room)
      do {
        _ = try assistant.archive.restorePreviousVersion()
        tally.add(nil)
      } catch {
        tally.add(Self.reason(error, "\(room) KiB"))
        #expect(try field.contents(of: store) == written, "\(room) KiB: \(error)")
        #expect(field.litter(beside: store) == ["filler"])
        try FileManager.default.removeItem(at: volume.url.appendingPathComponent("filler"))
        _ = try assistant.archive.restorePreviousVersion()
      }
      try? FileManager.default.removeItem(at: volume.url.appendingPathComponent("filler"))
      #expect(field.isOld(store), "\(room) KiB")
      let newest = try #require(field.previousVersions(of: store).last)
      #expect(try field.contents(of: newest) == written, "\(room) KiB")
      #expect(field.litter(beside: store) == [], "\(room) KiB")
      room += LongTests.areOn ? 4 : 16
      try #require(room < 16_384)
    }
    print("disk full, restore over a -wal: \(tally)")
    #expect(tally.failed > 3)
  }

  /// `leaving` is in KiB.
  static func fill(_ folder: URL, leaving room: Int) throws {
    let free = try POSIXFileOperations().volume(of: folder.path).availableBytes
    let size = max(0, Int(free) - room << 10)
    let path = folder.appendingPathComponent("filler").path
    let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, mode_t(0o600))
    try #require(file >= 0)
    defer { close(file) }
    #if os(Linux)
      if size > 0 { try #require(posix_fallocate(file, 0, off_t(size)) == 0) }
    #else
      // Elsewhere, no volume of a small size is mounted.
      try #require(size == 0)
    #endif
  }

  // MARK: Names

  @Test(arguments: FieldStore.Shape.allCases)
  func `wherever the volume has no place for another name, nothing is lost`(shape: FieldStore.Shape) throws {
    // The space in bytes is never short here: the check finds nothing wrong, and the tool itself meets the full volume.
    let field = try FieldStore(shape)
    let volume = try MountedVolume(options: "size=256m,nr_inodes=4")
    let tool = ToolProcess()
    var tally = RunTally()
    var names = shape == .wal ? 4 : 2
    while tally.succeeded < 2 {
      try volume.clear()
      try volume.remount("nr_inodes=\(names)")
      let store = try field.place(in: volume.url)
      let outcome = try tool.migrate(store, to: field.models)
      if outcome.outcome == "migrated" {
        #expect(outcome.code == 0)
        tally.add(nil)
      } else {
        tally.add(outcome.failure ?? "none")
        #expect(outcome.code == 1, "\(names) names: \(outcome.summary)")
        #expect(!outcome.message.isEmpty)
        #expect(field.isOld(store), "\(names) names: \(outcome.summary)")
        try volume.remount("nr_inodes=1000")
        let next = try tool.migrate(store, to: field.models)
        #expect(next.code == 0 && next.outcome == "migrated", "\(names) names: \(next.summary)")
      }
      field.checkMigrated(store, "\(names) names: \(outcome.summary)")
      names += LongTests.areOn ? 1 : 3
      try #require(names < 100)
    }
    print("no room for names, migrate, \(shape): \(tally)")
    #expect(tally.failed > 2)
  }

  // MARK: The check of space

  @Test func `a volume with too little room is refused byte for byte`() throws {
    let field = try FieldStore(.wal)
    let volume = try MountedVolume(options: "size=256m")
    let store = try field.place(in: volume.url)
    let bytes = field.bytes(at: store)
    let tool = ToolProcess()
    for room in LongTests.areOn ? Array(stride(from: 0, through: 4096, by: 64)) : [0, 1024] {
      try Self.fill(volume.url, leaving: room)
      let outcome = try tool.migrate(store, to: field.models)
      #expect(outcome.code == 1, "\(outcome.summary)")
      #expect((outcome.object["error"] as? [String: Any])?["coreDataCode"] as? Int == 640, "\(outcome.summary)")
      // Without any space, not even the content of the -wal can be read.
      if room > 128 {
        #expect(outcome.failure == "notEnoughSpace" && outcome.message.contains("(tmpfs)"), "\(outcome.summary)")
      }
      #expect(field.bytes(at: store) == bytes)
      #expect(field.isOld(store))
      try FileManager.default.removeItem(at: volume.url.appendingPathComponent("filler"))
    }
    #expect(try tool.migrate(store, to: field.models).outcome == "migrated")
    field.checkMigrated(store)
  }

  @Test(arguments: FieldStore.Shape.allCases)
  func `a volume that another process fills after the look leaves the old store`(shape: FieldStore.Shape) throws {
    let field = try FieldStore(shape)
    // The volume has the space that the plan asks for, and hardly more.
    let directory = try TemporaryDirectory()
    let planned = try Self.assistant(field, field.place(in: directory.url)).plan()?.bytesNeeded
    let needed = try #require(planned)
    let volume = try MountedVolume(options: "size=\(needed / 1024 + Int64(field.byteCount) / 1024 + 64)k")
    var tally = RunTally()
    var room = 0
    while tally.succeeded < 1 {
      try volume.clear()
      let store = try field.place(in: volume.url)
      var hasFilled = false
      let assistant = try Self.assistant(field, store)
      assistant.delegate = ClosureDelegate(onEvent: { event in
        if event == .held { hasFilled = (try? Self.fill(volume.url, leaving: room)) != nil }
      })
      do {
        _ = try assistant.migrateStore()
        tally.add(nil)
      } catch {
        tally.add(Self.reason(error, "\(room) KiB"))
        #expect(hasFilled, "\(room) KiB: \(error)")
        #expect(field.isOld(store), "\(room) KiB: \(error)")
        try FileManager.default.removeItem(at: volume.url.appendingPathComponent("filler"))
        assistant.delegate = nil
        _ = try assistant.migrateStore()
      }
      try? FileManager.default.removeItem(at: volume.url.appendingPathComponent("filler"))
      field.checkMigrated(store, "\(room) KiB")
      room += LongTests.areOn ? 4 : 32
      try #require(room < 16_384)
    }
    print("disk filled after the look, \(shape): \(tally)")
    #expect(tally.failed > 1)
  }
}

/// The same if this process may not mount: in a namespace of its own, in which it may.
@Suite(
  .enabled(
    if: !MountedVolume.isPossible && MountedVolume.isPossibleInNamespace, "volumes are mounted by this very process"))
struct NamespaceTests {
  @Test(arguments: ["DiskFullTests", "OtherVolumeTests"])
  func `the suites that mount volumes pass in a namespace of their own`(suite: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    process.arguments =
      ["-Urm", CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter", suite]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
