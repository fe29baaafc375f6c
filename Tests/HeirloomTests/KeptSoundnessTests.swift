import Foundation
import Heirloom
import TestSupport
import Testing

/// Kept versions that are damaged: they let no older, whole version go.
struct KeptSoundnessTests {
  enum Damage: CaseIterable, Sendable {
    case none
    case withoutExternalFiles, oneFileEmptied, oneFileGone
    case zeroedPages, zeroedPagesWithOldTime, oneZeroedByte, truncated, emptied, gone
    /// Only the time of the last change is another.
    case touched
    /// The version was kept by a release that didn't test it.
    case untested
    /// The result of the test is another than its checksum says.
    case forgedResult

    /// True if the version is whole all the same.
    var isHarmless: Bool { [.none, .touched, .untested].contains(self) }

    func act(on version: PreviousVersion) throws {
      let store = version.storeURL
      let files = try KeptStoreScene.files(of: store)
      let manifest = store.deletingLastPathComponent().appendingPathComponent("manifest.json")
      switch self {
      case .none: break
      case .withoutExternalFiles: for file in files { try FileManager.default.removeItem(at: file) }
      case .oneFileGone: try FileManager.default.removeItem(at: files[0])
      case .oneFileEmptied: try Data().write(to: files[0])
      case .zeroedPages, .zeroedPagesWithOldTime:
        let date = try FileManager.default.attributesOfItem(atPath: store.path)[.modificationDate]
        try change(store) { bytes in
          #expect(bytes.count > 3 * 4096)
          bytes.replaceSubrange(8192..., with: repeatElement(0, count: bytes.count - 8192))
        }
        if self == .zeroedPagesWithOldTime {
          try FileManager.default.setAttributes([.modificationDate: try #require(date)], ofItemAtPath: store.path)
        }
      case .oneZeroedByte:
        try change(store) { bytes in
          let place = try #require(bytes.range(of: Data("item 3".utf8)))
          bytes[place.lowerBound + 5] = UInt8(ascii: "4")
        }
      case .truncated: try change(store) { $0 = $0.prefix(8192) }
      case .emptied: try Data().write(to: store)
      case .gone: try FileManager.default.removeItem(at: store)
      case .touched:
        try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: store.path)
      case .untested, .forgedResult:
        var members = try #require(
          try JSONSerialization.jsonObject(with: Data(contentsOf: manifest)) as? [String: Any])
        if self == .untested {
          for name in ["soundness", "soundnessChecksum"] { members[name] = nil }
        } else {
          members["soundnessChecksum"] = String(repeating: "0", count: 64)
        }
        try JSONSerialization.data(withJSONObject: members).write(to: manifest)
      }
    }

    /// Changes a file in its place, as a failing disk does.
    private func change(_ url: URL, _ body: (inout Data) throws -> Void) throws {
      var bytes = try Data(contentsOf: url)
      try body(&bytes)
      let file = try FileHandle(forWritingTo: url)
      try file.truncate(atOffset: UInt64(bytes.count))
      try file.write(contentsOf: bytes)
      try file.close()
    }
  }

  @Test(arguments: Damage.allCases)
  func `a version goes only if the one that stays is sound`(damage: Damage) throws {
    let scene = try KeptStoreScene()
    try scene.launch(1)
    try scene.launch(2)
    #expect(try scene.kept() == [0, 1])
    let newest = try #require(try scene.archive.previousVersions().first)
    let oldest = try #require(try scene.archive.previousVersions().last)
    try damage.act(on: newest)
    for _ in 0..<3 { try scene.launch(2) }
    let left = try scene.archive.previousVersions().map(\.id)
    #expect(left.contains(oldest.id) == (damage != .none), "\(damage)")
    #expect(left.contains(newest.id))
    // The next migration tests what wasn't tested or was touched. With two versions to keep, the damaged one never counts.
    try scene.launch(3, keeping: 2)
    try scene.launch(3, keeping: 2)
    let later = try scene.archive.previousVersions().map(\.id)
    #expect(later.contains(oldest.id) == !damage.isHarmless, "\(damage)")
    #expect(later.contains(newest.id), "\(damage)")
    if !damage.isHarmless {
      #expect(try KeptStoreScene.contents(of: oldest.storeURL).count == 6)
      #expect(try oldest.objectCount() == 6)
    }
  }

  @Test func `a version of a store that lacked an external file is kept, and makes no older one go`() throws {
    let scene = try KeptStoreScene()
    try scene.launch(1)
    let gone = try KeptStoreScene.files(of: scene.store)[0]
    try FileManager.default.removeItem(at: gone)
    // It stops no migration, as before.
    guard case .migrated = try scene.launch(2) else {
      Issue.record("expected a migration")
      return
    }
    for _ in 0..<3 { try scene.launch(2) }
    #expect(try scene.kept() == [0, 1])
    let oldest = try #require(try scene.archive.previousVersions().last)
    #expect(try KeptStoreScene.contents(of: oldest.storeURL)[gone.lastPathComponent] != nil)
  }
}
