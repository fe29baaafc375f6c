import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Restorations while an external file of the store, or of the version, is damaged.
struct RestoredFilesTests {
  enum Content: CaseIterable, Sendable {
    case empty, shorter, otherBytes

    func of(_ data: Data) -> Data {
      switch self {
      case .empty: Data()
      case .shorter: data.prefix(100)
      case .otherBytes: Data(data.dropLast() + [0xff])
      }
    }
  }

  /// Writes a new file under a name, so that no other name of the old one changes.
  private func replace(_ url: URL, with data: Data) throws {
    try FileManager.default.removeItem(at: url)
    try data.write(to: url)
  }

  @Test(arguments: Content.allCases, [false, true])
  func `a damaged file of the store comes back whole, and stays with the store that was replaced`(
    content: Content, isStoreGone: Bool
  ) throws {
    let scene = try KeptStoreScene()
    let before = try KeptStoreScene.contents(of: scene.store)
    try scene.launch(1)
    let file = try KeptStoreScene.files(of: scene.store)[2]
    let damaged = content.of(try Data(contentsOf: file))
    try replace(file, with: damaged)
    if isStoreGone { try FileManager.default.removeItem(at: scene.store) }
    let result = try scene.archive.restorePreviousVersion()
    #expect(try KeptStoreScene.contents(of: scene.store) == before)
    #expect(try KeptStoreScene.contents(of: result.restored.storeURL) == before)
    if let previous = result.previous {
      #expect(try KeptStoreScene.contents(of: previous.storeURL)[file.lastPathComponent] == damaged)
    } else {
      #expect(isStoreGone)
      let companion = scene.directory.file("Journal.sqlite.heirloom/incompatible")
      let kept = try FileManager.default.subpathsOfDirectory(atPath: companion.path)
        .filter { $0.hasSuffix(file.lastPathComponent) }
      #expect(try kept.map { try Data(contentsOf: companion.appendingPathComponent($0)) } == [damaged])
    }
    // What the app writes into its file reaches no kept one.
    let kept = try scene.archive.previousVersions().map { try KeptStoreScene.contents(of: $0.storeURL) }
    try Data([1]).write(to: file)
    #expect(try scene.archive.previousVersions().map { try KeptStoreScene.contents(of: $0.storeURL) } == kept)
    _ = try scene.archive.restorePreviousVersion(result.restored.id)
    for _ in 0..<3 { try scene.launch(1) }
    for _ in 0..<3 { try scene.launch(2) }
    #expect(try KeptStoreScene.contents(of: scene.store) == before)
  }

  @Test(arguments: Content.allCases)
  func `a version stays if a file of it was changed before the next was kept`(content: Content) throws {
    let scene = try KeptStoreScene()
    let before = try KeptStoreScene.contents(of: scene.store)
    try scene.launch(1)
    let file = try KeptStoreScene.files(of: scene.store)[2]
    try replace(file, with: content.of(try Data(contentsOf: file)))
    for version in 2...4 { for _ in 0..<3 { try scene.launch(version) } }
    // The versions after it have the file as it is now, and go as usual; those with an empty file aren't sound.
    let after: [Int?] = content == .empty ? [1, 2, 3] : [3]
    #expect(try scene.kept() == [0] + after)
    let oldest = try #require(try scene.archive.previousVersions().last)
    #expect(try KeptStoreScene.contents(of: oldest.storeURL) == before)
    #expect(oldest.isPinned)
    #expect(oldest.alone.map(\.entity) == ["_EXTERNAL_DATA"])
    #expect(oldest.alone.map(\.rows) == [1])
    try scene.archive.releasePreviousVersion(oldest.id)
    for _ in 0..<2 { try scene.launch(4) }
    #expect(try scene.kept() == (content == .empty ? [0] : []) + after)
  }

  @Test(arguments: Content.allCases)
  func `a version that a launch released is pinned again once a file of a later one differs`(content: Content) throws {
    let scene = try KeptStoreScene()
    let before = try KeptStoreScene.contents(of: scene.store)
    try scene.launch(1)
    // The store that is replaced has nothing that the restored one lacks.
    let replaced = try #require(try scene.archive.restorePreviousVersion().previous)
    #expect(!replaced.isPinned && replaced.alone.isEmpty)
    let file = try KeptStoreScene.files(of: scene.store)[2]
    let good = try Data(contentsOf: file)
    try replace(file, with: content.of(good))
    for version in 2...4 { for _ in 0..<3 { try scene.launch(version) } }
    let holders = try scene.archive.previousVersions().filter { try KeptStoreScene.contents(of: $0.storeURL) == before }
    let pinned = holders.filter(\.isPinned)
    #expect(pinned.map(\.id) == [replaced.id])
    // Released by name, it stays released.
    for holder in pinned { try scene.archive.releasePreviousVersion(holder.id) }
    _ = try scene.archive.restorePreviousVersion()
    #expect(try !scene.archive.previousVersions().contains { $0.id == replaced.id && $0.isPinned })
  }

  @Test(arguments: Content.allCases)
  func `a version stays if its file was missing from the next, and came back with other content`(content: Content)
    throws
  {
    let scene = try KeptStoreScene()
    let before = try KeptStoreScene.contents(of: scene.store)
    try scene.launch(1, keeping: 3)
    let file = try KeptStoreScene.files(of: scene.store)[2]
    let good = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    for _ in 0..<3 { try scene.launch(2, keeping: 3) }
    try content.of(good).write(to: file)
    for version in 3...4 { for _ in 0..<3 { try scene.launch(version) } }
    let oldest = try #require(try scene.archive.previousVersions().last)
    #expect(try KeptStoreScene.contents(of: oldest.storeURL) == before)
    #expect(oldest.isPinned && oldest.alone.map(\.rows) == [1])
  }

  @Test func `of versions with the same files, only the newest is pinned for a later one's other content`() throws {
    let scene = try KeptStoreScene()
    try scene.launch(1, keeping: 5)
    try scene.launch(2, keeping: 5)
    let file = try KeptStoreScene.files(of: scene.store)[2]
    try replace(file, with: Data([1, 2, 3]))
    try scene.launch(3, keeping: 5)
    #expect(try scene.archive.previousVersions().map(\.isPinned) == [false, true, false])
    // Once that one is released, the file is the older one's alone.
    try scene.archive.releasePreviousVersion(try scene.archive.previousVersions()[1].id)
    try scene.launch(4, keeping: 5)
    #expect(try scene.archive.previousVersions().map(\.isPinned) == [false, false, false, true])
  }

  /// Something in the place of an external file of the version.
  enum Obstacle: CaseIterable, Sendable {
    case folder, link, danglingLink, pipe, fileForFolder, linkForFolder

    func put(at url: URL, in directory: TemporaryDirectory) throws {
      try FileManager.default.removeItem(at: url)
      switch self {
      case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      case .link, .linkForFolder:
        let target = directory.file("target")
        try Data([1]).write(to: target)
        try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
      case .danglingLink:
        try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "/nonexistent")
      case .pipe: #expect(mkfifo(url.path, 0o600) == 0)
      case .fileForFolder: try Data([1]).write(to: url)
      }
    }
  }

  @Test(arguments: Obstacle.allCases, [false, true])
  func `nothing is restored while something else has the name of a file of the version`(
    obstacle: Obstacle, isStoreGone: Bool
  ) throws {
    let scene = try KeptStoreScene()
    let inner = KeptStoreScene.folder(of: scene.store).deletingLastPathComponent().appendingPathComponent("own")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
    try Data([7]).write(to: inner.appendingPathComponent("file"))
    let before = try KeptStoreScene.contents(of: scene.store)
    try scene.launch(1)
    let place =
      [.fileForFolder, .linkForFolder].contains(obstacle) ? inner : try KeptStoreScene.files(of: scene.store)[2]
    try obstacle.put(at: place, in: scene.directory)
    if isStoreGone { try FileManager.default.removeItem(at: scene.store) }
    let error = try #require(throws: MigrationAssistantError.self) { try scene.archive.restorePreviousVersion() }
    #expect("\(error)".contains(place.lastPathComponent) && "\(error)".contains("is being restored"), "\(error)")
    #expect(error.recoverySuggestion?.contains("move it away") == true, "\(error.recoverySuggestion ?? "")")
    let hashes = (try? StoreMetadata(contentsOf: scene.store))?.versionHashes
    #expect(hashes == (isStoreGone ? nil : scene.models[1].versionHashes()))
    #expect(try scene.kept() == [0])
    try FileManager.default.removeItem(at: place)
    let result = try scene.archive.restorePreviousVersion()
    #expect(try KeptStoreScene.contents(of: scene.store) == before)
    #expect(try Data(contentsOf: inner.appendingPathComponent("file")) == Data([7]))
    #expect((result.previous == nil) == isStoreGone)
  }

  @Test func `a good file of the store stays with it when the version's own is damaged`() throws {
    let scene = try KeptStoreScene()
    let before = try KeptStoreScene.contents(of: scene.store)
    try scene.launch(1)
    let kept = try #require(try scene.archive.previousVersions().first)
    let file = try KeptStoreScene.files(of: kept.storeURL)[2]
    try replace(file, with: Data([1, 2, 3]))
    let result = try scene.archive.restorePreviousVersion()
    #expect(try KeptStoreScene.contents(of: scene.store)[file.lastPathComponent] == Data([1, 2, 3]))
    let previous = try #require(result.previous)
    #expect(try KeptStoreScene.contents(of: previous.storeURL) == before)
    for _ in 0..<3 { try scene.launch(1) }
    for _ in 0..<3 { try scene.launch(2) }
    let left = try #require(try scene.archive.previousVersions().first { $0.id == previous.id })
    #expect(left.isPinned)
    #expect(try KeptStoreScene.contents(of: left.storeURL) == before)
  }
}
