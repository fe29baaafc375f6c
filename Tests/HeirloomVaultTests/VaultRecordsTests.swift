import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

struct VaultRecordsTests {
  let files = POSIXFileOperations()
  static let identifier = "0123456789abcdef0123456789abcdef"

  // MARK: Places

  @Test func `knows what lies beside a store`() throws {
    let directory = try TemporaryDirectory()
    let folder = try files.resolvePath(directory.url.path)
    let location = try StoreLocation(resolving: directory.file("Journal.sqlite").path, files: files)
    #expect(location.directory == folder)
    #expect(location.name == "Journal.sqlite")
    #expect(location.path == folder + "/Journal.sqlite")
    #expect(location.companion == folder + "/Journal.sqlite.heirloom")
    #expect(location.support == folder + "/.Journal_SUPPORT")
    #expect(location.previous == location.companion + "/previous")
    #expect(location.incoming == location.companion + "/incoming")
    #expect(location.incompatible == location.companion + "/incompatible")
    #expect(location.manifest == location.companion + "/manifest.json")
    #expect(location.lock == location.companion + "/lock")
    #expect(location.snapshot == location.companion + "/model.json.gz")
    #expect(location.sideFiles == ["-wal", "-shm", "-journal"].map { location.path + $0 })
  }

  @Test(arguments: [
    ("Journal.sqlite", ".Journal_SUPPORT"), ("a.b.store", ".a.b_SUPPORT"), ("Journal", ".Journal_SUPPORT"),
    (".hidden", "..hidden_SUPPORT"), ("dot.", ".dot._SUPPORT"),
  ])
  func `names the folder of external data as Core Data does`(_ name: String, _ support: String) {
    #expect(StoreLocation.supportName(forStore: name) == support)
  }

  @Test func `follows the store's own link once`() throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(at: directory.file("real"), withIntermediateDirectories: false)
    try Data([1]).write(to: directory.file("real/Real.sqlite"))
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("Link.sqlite").path, withDestinationPath: "real/Real.sqlite")
    let location = try StoreLocation(resolving: directory.file("Link.sqlite").path, files: files)
    #expect(location.path == (try files.resolvePath(directory.url.path)) + "/real/Real.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("loop").path, withDestinationPath: directory.file("loop").path)
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("dangling").path, withDestinationPath: "nowhere")
    for name in ["loop", "dangling"] {
      let error = #expect(throws: VaultError.self) {
        try StoreLocation(resolving: directory.file(name).path, files: files)
      }
      guard case .notAFile = error else { throw try #require(error) }
    }
    #expect(throws: VaultError.self) {
      try StoreLocation(resolving: directory.file("absent/Journal.sqlite").path, files: files)
    }
    for path in ["/", "", "a\0b", directory.url.path + "/absent/"] {
      #expect(throws: VaultError.self) { try StoreLocation(resolving: path, files: files) }
    }
  }

  // MARK: Names

  @Test(
    arguments: [
      (0, "19700101T000000Z"), (951_782_399, "20000228T235959Z"), (951_782_400, "20000229T000000Z"),
      (951_868_800, "20000301T000000Z"), (1_795_428_900, "20261123T101500Z"), (4_107_542_400, "21000301T000000Z"),
      (253_402_300_799, "99991231T235959Z"),
    ] as [(Int64, String)])
  func `names a version by its time`(_ time: Int64, _ text: String) throws {
    let name = VersionName(time: time, identifier: Self.identifier)
    #expect(name.text == text + "-01234567")
    #expect(try #require(VersionName(name.text)).time == time)
  }

  @Test func `every day keeps its time and its order`() throws {
    var last: VersionName?
    for day in 0..<60_000 {
      let name = VersionName(time: Int64(day) * 86_400 + Int64(day % 86_400), identifier: Self.identifier)
      #expect(VersionName(name.text)?.time == name.time)
      if let last { #expect(last < name) }
      last = name
    }
  }

  @Test(arguments: [
    "", "20000301T000000Z", "20000301T000000Z-0123456", "20000301T000000Z-0123456G", "20000301T000000Z-012345678",
    "20001301T000000Z-01234567", "20000301T240000Z-01234567", "../000301T000000Z-01234567", "２0000301T000000Z-01234567",
    "20000301T000000Z-0123456/",
  ])
  func `takes no other name for a version's`(_ text: String) {
    #expect(VersionName(text) == nil)
  }

  // MARK: Manifests

  static let manifest = VaultManifest(
    identifier: identifier, operation: .migration, storeName: "My “Journal”.sqlite",
    keptFolder: "20000301T000000Z-01234567", oldGeneration: nil, newGeneration: "g2", time: 951_868_800)
  static let previous = PreviousVersionManifest(
    identifier: identifier, time: 951_868_800, storeName: "Journal.sqlite", storeByteCount: 4_096, supportFileCount: 2,
    supportByteCount: 300_000, versionChecksum: "abc", versionName: "Diary 2", generation: nil,
    successor: "g2", mode: .wal)

  @Test func `reads back what it wrote`() throws {
    #expect(try VaultManifest(decoding: Self.manifest.encoded()) == Self.manifest)
    #expect(try PreviousVersionManifest(decoding: Self.previous.encoded()) == Self.previous)
    let adoption = VaultManifest(
      identifier: Self.identifier, operation: .adoption, storeName: "Journal.sqlite", keptFolder: nil,
      oldGeneration: nil, newGeneration: Self.identifier, time: 7, adoptedSet: "2026-11-23-10-15-00-01234567")
    #expect(try VaultManifest(decoding: adoption.encoded()) == adoption)
    let permanent = PreviousVersionManifest(
      identifier: Self.identifier, time: 7, storeName: "Journal.sqlite", storeByteCount: 1, supportFileCount: 0,
      supportByteCount: 0, versionChecksum: nil, generation: nil, mode: .rollback, operation: .adoption)
    #expect(permanent.isPinned)
    #expect(try PreviousVersionManifest(decoding: permanent.encoded()) == permanent)
    // A reader that doesn't know the mark finds the manifest damaged, and removes no such version.
    let text = String(decoding: try permanent.encoded(), as: UTF8.self)
    #expect(throws: ManifestError.self) {
      try PreviousVersionManifest(decoding: Array(text.replacing("\"operation\"", with: "\"other\"").utf8))
    }
  }

  @Test func `the version's name is for readers that know it, and no other reader misses it`() throws {
    let text = String(decoding: try Self.previous.encoded(), as: UTF8.self)
    // The names are lines of their own, which the checksum of earlier releases doesn't cover.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains("\"versionName") }
    let old = try PreviousVersionManifest(decoding: Array(lines.joined(separator: "\n").utf8))
    #expect(old.versionName == nil && old.versionChecksum == "abc" && text.contains("\"versionName\" : \"Diary 2\""))
    #expect(Self.previous.released.versionName == "Diary 2")
    let another = text.replacing("Diary 2", with: "Diary 3")
    #expect(throws: ManifestError.self) { try PreviousVersionManifest(decoding: Array(another.utf8)) }
  }

  @Test func `notices every changed byte and every cut`() throws {
    func survives(_ bytes: [UInt8]) -> Bool {
      // Only white space between tokens may change unnoticed.
      if let read = try? VaultManifest(decoding: bytes) { return read == Self.manifest }
      if let read = try? PreviousVersionManifest(decoding: bytes) { return read == Self.previous }
      return true
    }
    for original in [try Self.manifest.encoded(), try Self.previous.encoded()] {
      for index in original.indices {
        for bit in 0..<8 {
          var bytes = original
          bytes[index] ^= 1 << bit
          #expect(survives(bytes), "bit \(bit) of byte \(index)")
        }
        // The line feed at the end does not count.
        if index < original.count - 1 {
          #expect(throws: ManifestError.self) { try VaultManifest(decoding: Array(original[..<index])) }
          #expect(throws: ManifestError.self) { try PreviousVersionManifest(decoding: Array(original[..<index])) }
        }
      }
    }
  }

  @Test(arguments: [
    ("0123456789abcdef0123456789abcde", "S", "20000301T000000Z-01234567"),
    ("../../../../../../../../../home/", "S", "20000301T000000Z-01234567"),
    (identifier, "../S", "20000301T000000Z-01234567"), (identifier, "", "20000301T000000Z-01234567"),
    (identifier, "..", "20000301T000000Z-01234567"), (identifier, "S", "20000301T000000Z-11234567"),
    (identifier, "S", "../20000301T000000Z-01234567"), (identifier, "S", ""),
  ])
  func `trusts no name that is not of its own pattern`(_ identifier: String, _ store: String, _ kept: String) throws {
    let manifest = VaultManifest(
      identifier: identifier, operation: .migration, storeName: store, keptFolder: kept, oldGeneration: nil,
      newGeneration: nil, time: 0)
    let bytes = try manifest.encoded()
    #expect(throws: ManifestError.self) { try VaultManifest(decoding: bytes) }
  }

  @Test func `an operation has only its own phases`() throws {
    var manifest = Self.manifest
    manifest.phase = .removing
    let bytes = try manifest.encoded()
    #expect(throws: ManifestError.self) { try VaultManifest(decoding: bytes) }
    #expect(throws: ManifestError.self) { try VaultManifest(decoding: Array(repeating: 0x5b, count: 60_000)) }
  }
}
