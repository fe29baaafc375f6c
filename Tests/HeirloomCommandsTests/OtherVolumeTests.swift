import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// Parts of a store that are on another volume: refused, or copied whole.
@Suite(
  .enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"),
  .enabled(if: MountedVolume.isPossible, MountedVolume.absence))
struct OtherVolumeTests {
  private static let external = "_EXTERNAL_DATA/0F2E4A52-6A0B-4B7C-9C55-0A4C2B4B2D11"

  @Test(arguments: ["", "/previous", "/incoming", "/incompatible"], FieldStore.Shape.allCases)
  func `a folder of ours on another volume is refused byte for byte`(
    folder: String, shape: FieldStore.Shape
  ) throws {
    let field = try FieldStore(shape)
    let directory = try TemporaryDirectory()
    let store = try field.place(in: directory.url)
    let bytes = field.bytes(at: store)
    let path = URL(fileURLWithPath: store.path + ".heirloom" + folder)
    try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
    do {
      let volume = try MountedVolume(on: path, of: directory, options: "size=1m")
      let outcome = try ToolProcess().migrate(store, to: field.models)
      #expect(outcome.code == 1, outcome.summary)
      #expect(outcome.message.contains("another volume"), outcome.summary)
      #expect(field.bytes(at: store) == bytes)
      #expect(try FileManager.default.contentsOfDirectory(atPath: volume.url.path) == [])
    }
    #expect(try ToolProcess().migrate(store, to: field.models).outcome == "migrated")
    field.checkMigrated(store)
  }

  @Test(arguments: FieldStore.Shape.allCases)
  func `a store that is mounted as a single file is refused byte for byte, by a plan as by a migration`(
    shape: FieldStore.Shape
  ) throws {
    let field = try FieldStore(shape)
    let directory = try TemporaryDirectory()
    let store = try field.place(in: directory.url)
    let bytes = field.bytes(at: store)
    do {
      let mount = try MountedVolume(file: store, of: directory)
      for command in ["plan", "rehearse", "migrate"] {
        let outcome = try ToolProcess().run([command, store.path, "--to", field.models.path, "--json"])
        #expect(outcome.code == 1, outcome.summary)
        #expect(outcome.message.contains("mounted as a single file"), outcome.summary)
        #expect(field.bytes(at: mount.url) == bytes)
      }
    }
    #expect(try ToolProcess().migrate(store, to: field.models).outcome == "migrated")
    field.checkMigrated(store)
  }

  enum Elsewhere: String, CaseIterable, Sendable {
    case supportMounted
    case externalDataMounted
    case supportLinked
    case externalDataLinked
  }

  @Test(arguments: Elsewhere.allCases)
  func `external data on another volume are copied whole and come back`(elsewhere: Elsewhere) throws {
    let field = try FieldStore(.wal)
    let directory = try TemporaryDirectory()
    let folder = directory.file("folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let store = try field.place(in: folder)
    let support = folder.appendingPathComponent(".Diary_SUPPORT")
    let file = support.appendingPathComponent(Self.external)
    let data = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })
    let files = FileManager.default
    let volume: MountedVolume
    switch elsewhere {
    case .supportMounted:
      try files.createDirectory(at: support, withIntermediateDirectories: true)
      volume = try MountedVolume(on: support, of: directory, options: "size=4m")
    case .externalDataMounted:
      try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      volume = try MountedVolume(on: file.deletingLastPathComponent(), of: directory, options: "size=4m")
    case .supportLinked:
      volume = try MountedVolume(options: "size=4m")
      try files.createSymbolicLink(at: support, withDestinationURL: volume.url)
    case .externalDataLinked:
      volume = try MountedVolume(options: "size=4m")
      try files.createDirectory(at: support, withIntermediateDirectories: true)
      try files.createSymbolicLink(
        at: support.appendingPathComponent("_EXTERNAL_DATA"), withDestinationURL: volume.url)
    }
    try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
    let outcome = try ToolProcess().migrate(store, to: field.models)
    #expect(outcome.outcome == "migrated", outcome.summary)
    field.checkMigrated(store)
    let version = try #require(field.previousVersions(of: store).first)
    let kept = version.deletingLastPathComponent().appendingPathComponent(".Diary_SUPPORT/" + Self.external)
    #expect(try Data(contentsOf: kept) == data)
    #expect(try Data(contentsOf: file) == data)

    // The app deletes the file; the previous version still has it, and a restore brings it back.
    try files.removeItem(at: file)
    #expect(try Data(contentsOf: kept) == data)
    let back = try ToolProcess().run(["restore", store.path, "--json"])
    #expect(back.code == 0, back.summary)
    #expect(field.isOld(store), back.summary)
    #expect(try Data(contentsOf: file) == data)
    #expect(field.previousVersions(of: store).count == 2)
    withExtendedLifetime(volume) {}
  }

  @Test func `a link in the place of an external file is not followed, and told`() throws {
    let field = try FieldStore(.wal)
    let (directory, elsewhere) = (try TemporaryDirectory(), try TemporaryDirectory())
    let store = try field.place(in: directory.url)
    let file = directory.file(".Diary_SUPPORT").appendingPathComponent(Self.external)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("data".utf8).write(to: elsewhere.file("data"))
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: elsewhere.file("data"))
    let outcome = try ToolProcess().migrate(store, to: field.models)
    #expect(outcome.outcome == "migrated", outcome.summary)
    let warnings = outcome.object["warnings"] as? [String] ?? []
    #expect(warnings.contains { $0.hasPrefix("1 name in a folder") && $0.contains(file.path) }, outcome.summary)
    let version = try #require(field.previousVersions(of: store).first)
    let kept = version.deletingLastPathComponent().appendingPathComponent(".Diary_SUPPORT/_EXTERNAL_DATA")
    #expect(try FileManager.default.contentsOfDirectory(atPath: kept.path) == [])
    #expect(try ToolProcess().run(["restore", store.path, "--json"]).code == 0)
    #expect(try Data(contentsOf: elsewhere.file("data")) == Data("data".utf8))
  }

  @Test(arguments: [true, false])
  func `a store in the lower layer of an overlay is migrated and restored`(isOneVolume: Bool) throws {
    let field = try FieldStore(.wal)
    let directory = try TemporaryDirectory()
    // An overlay can't be on another, as in a container: the layers are on volumes in memory.
    let upper = try MountedVolume(options: "size=256m")
    let lower = isOneVolume ? upper : try MountedVolume(options: "size=16m")
    let folders = ["lower": lower, "upper": upper, "work": upper].mapValues(\.url).map { name, url in
      (name, url.appendingPathComponent(name))
    }
    for (_, url) in folders { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }
    let layers = Dictionary(uniqueKeysWithValues: folders.map { ($0.0, $0.1.path) })
    _ = try field.place(in: lower.url.appendingPathComponent("lower"))
    let options = "lowerdir=\(layers["lower"] ?? ""),upperdir=\(layers["upper"] ?? ""),workdir=\(layers["work"] ?? "")"
    let overlay = try MountedVolume(on: directory.url, of: directory, kind: "overlay", options: options)
    let store = overlay.url.appendingPathComponent(FieldStore.name)
    let outcome = try ToolProcess().migrate(store, to: field.models)
    #expect(outcome.outcome == "migrated", outcome.summary)
    field.checkMigrated(store)
    let back = try ToolProcess().run(["restore", store.path, "--json"])
    #expect(back.code == 0, back.summary)
    #expect(field.isOld(store))
    withExtendedLifetime((upper, lower)) {}
  }
}
