import Foundation
import Heirloom
import HeirloomVault
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
      + names.map { name in Make.attribute(name) }
    return try ManagedObjectModel(entities: [photo])
  }

  @Test func `a migration and a restoration share the blocks of what they keep`() throws {
    let volume = try MountedVolume(sharingBlocks: 320)
    let (first, second) = (try Self.model([]), try Self.model(["place"]))
    let store = volume.url.appendingPathComponent("Photos.sqlite")
    try PersistentStore.make(at: store, model: first) { context in
      for number in 0..<Self.photos {
        let photo = try context.insert("Photo")
        photo["data"] = .binary((0..<Self.photoBytes).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9 &+ number) })
      }
    }
    let before = try StoreContents(of: store, model: first)
    let size = UInt64(Self.photos * Self.photoBytes)
    let used = try volume.usedBytes
    #expect(used > size)

    let assistant = MigrationAssistant(store, from: first, to: second)
    var candidatesOpenAfterProof: [String]?
    assistant.delegate = ClosureDelegate(onEvent: { event in
      guard case .proven = event else { return }
      // Those of this store alone: other tests have theirs meanwhile.
      let folder = "/proc/self/fd"
      let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      let targets = open.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) }
      candidatesOpenAfterProof = targets.filter { $0.hasPrefix("\(store.path).heirloom/incoming/") }
    })
    let report = try assistant.migrate()
    #expect(report.plan.builder == .cloneAndAlter)
    // Whatever read it ahead of the proof must be done by now: closing it later would drop the locks of the new store's
    // users.
    #expect(candidatesOpenAfterProof == [])
    #expect(try StoreContents(of: report.previousVersion.storeURL, model: first) == before)
    // Two whole stores are there now; SQLite rewrites the pages that change, and XFS some of its own.
    let usedAfter = try volume.usedBytes
    #expect(usedAfter < used + size / 4, "\(usedAfter - min(used, usedAfter)) bytes more for a store of \(size)")

    _ = try assistant.archive.restorePreviousVersion()
    #expect(try StoreContents(of: store, model: first) == before)
    let usedAtEnd = try volume.usedBytes
    #expect(usedAtEnd < used + size / 2, "\(usedAtEnd - min(used, usedAtEnd)) bytes more for three stores of \(size)")
  }

  @Test func `blocks of a clone are its source's own until they are written`() throws {
    let volume = try MountedVolume(sharingBlocks: 320)
    let source = volume.url.appendingPathComponent("source")
    let clone = volume.url.appendingPathComponent("clone")
    let block = 4096
    try Data((0..<64 * block).map { UInt8(truncatingIfNeeded: $0 / block &* 5 &+ $0) }).write(to: source)
    let held = try POSIXFileOperations().hold(source.path)
    defer { held.close() }
    #expect(try held.clone(to: clone.path, attributes: FileAttributes(mode: 0o600)))
    let size = Int64(64 * block)
    func blocks() -> Set<Int64> {
      let ranges = held.sharedRanges(withCloneAt: clone.path)
      #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
      return Set(
        (0..<size / Int64(block)).filter { number in
          ranges.contains { $0.lowerBound <= number * Int64(block) && (number + 1) * Int64(block) <= $0.upperBound }
        })
    }
    #expect(blocks() == Set(0..<64))
    // Nobody brings these writes to the disk.
    let file = try FileHandle(forUpdating: clone)
    for place in [0, 10 * block + 7, 63 * block + 4095] {
      try file.seek(toOffset: UInt64(place))
      try file.write(contentsOf: [1])
    }
    #expect(blocks() == Set(0..<64).subtracting([0, 10, 63]))
    // A file with the same content is another one.
    let copy = volume.url.appendingPathComponent("copy")
    try Data(contentsOf: source).write(to: copy)
    #expect(held.sharedRanges(withCloneAt: copy.path).isEmpty)
    #expect(held.sharedRanges(withCloneAt: copy.path + "-absent").isEmpty)
    try file.close()
  }
}
