import Foundation
import Heirloom
import TestSupport
import Testing

/// A file system that shares blocks between files: a previous version takes no second copy there.
@Suite(.enabled(if: MountedVolume.canShareBlocks, MountedVolume.absenceOfSharing))
struct ReflinkTests {
  private static let photoBytes = 1 << 20
  private static let photos = 16

  private static func model(_ names: [String]) throws -> ManagedObjectModel {
    var photo = EntityDescription(name: "Photo")
    photo.attributes =
      [AttributeDescription(name: "data", type: .binary)]
      + names.map { name in
        var attribute = AttributeDescription(name: name, type: .string)
        attribute.isOptional = true
        return attribute
      }
    return try ManagedObjectModel(entities: [photo])
  }

  @Test func `a migration and a restoration share the blocks of what they keep`() throws {
    let volume = try MountedVolume(sharingBlocks: 320)
    let (first, second) = (try Self.model([]), try Self.model(["place"]))
    let store = volume.url.appendingPathComponent("Photos.sqlite")
    let created = try PersistentStore.create(at: store, model: first)
    let context = ManagedObjectContext(store: created)
    for number in 0..<Self.photos {
      let photo = try context.insert("Photo")
      photo["data"] = .binary((0..<Self.photoBytes).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9 &+ number) })
    }
    try context.save()
    try created.close()
    let before = try StoreContents(of: store, model: first)
    let size = UInt64(Self.photos * Self.photoBytes)
    let used = try volume.usedBytes
    #expect(used > size)

    let assistant = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store),
      history: ModelHistory(current: second, earlier: [("1", first)]))
    let observer = OpenFileObserver(of: store)
    assistant.delegate = observer
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("expected a migration")
      return
    }
    #expect(report.plan.builder == .cloneAndAlter)
    // Whatever read it ahead of the proof must be done by now: closing it later would drop the locks of the new store's
    // users.
    #expect(observer.candidatesOpenAfterProof == [])
    #expect(try StoreContents(of: report.previousVersion.storeURL, model: first) == before)
    // Two whole stores are there now; SQLite rewrites the pages that change, and XFS some of its own.
    let usedAfter = try volume.usedBytes
    #expect(usedAfter < used + size / 4, "\(usedAfter - min(used, usedAfter)) bytes more for a store of \(size)")

    _ = try assistant.archive.restorePreviousVersion()
    #expect(try StoreContents(of: store, model: first) == before)
    let usedAtEnd = try volume.usedBytes
    #expect(usedAtEnd < used + size / 2, "\(usedAtEnd - min(used, usedAtEnd)) bytes more for three stores of \(size)")
  }
}

/// An observer of one store's candidates that this process has open at the proof; other tests have theirs meanwhile.
private final class OpenFileObserver: MigrationAssistantDelegate {
  private let store: URL
  private(set) var candidatesOpenAfterProof: [String]?

  init(of store: URL) {
    self.store = store
  }

  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    guard case .proven = event else { return }
    let folder = "/proc/self/fd"
    let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let targets = open.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) }
    candidatesOpenAfterProof = targets.filter { $0.hasPrefix("\(store.path).heirloom/incoming/") }
  }
}
