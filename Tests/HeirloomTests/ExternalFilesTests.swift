import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// External files through a migration and back, while the app continues to add, delete and overwrite them.
struct ExternalFilesTests {
  /// An album whose photos are in external files, and each photo's name with the data that the app stored there.
  private final class Album {
    let directory: TemporaryDirectory
    let store: URL
    let first: ManagedObjectModel
    let second: ManagedObjectModel
    private(set) var photos: [String: [UInt8]] = [:]

    init(count: Int) throws {
      directory = try TemporaryDirectory()
      store = directory.file("Album.sqlite")
      first = try Album.model([])
      second = try Album.model(["caption"])
      try PersistentStore.create(at: store, model: first).close()
      for number in 0..<count { try add("photo \(number)", data: Album.data(number), model: first) }
    }

    static func data(_ number: Int) -> [UInt8] {
      (0..<3000 + number).map { UInt8(truncatingIfNeeded: $0 &* 3 &+ number) }
    }

    private static func model(_ more: [String]) throws -> ManagedObjectModel {
      var photo = Make.entity("Photo", (["name"] + more).map { name in Make.attribute(name) })
      let data = Make.attribute("data", .binary, external: true)
      photo.attributes.append(data)
      return try ManagedObjectModel(entities: [photo])
    }

    var folder: URL { URL(fileURLWithPath: ExternalStorage.folder(forStoreAt: store.path)) }

    var files: [URL] {
      get throws {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).sorted {
          $0.path < $1.path
        }
      }
    }

    /// Adds a photo as Core Data does: a new file, and its name in the row.
    func add(_ name: String, data: [UInt8], model: ManagedObjectModel) throws {
      let store = try PersistentStore.open(at: store, model: model)
      let context = ManagedObjectContext(store: store)
      let photo = try context.insert("Photo")
      try photo.setValue(.string(name), forAttribute: "name")
      try context.save()
      let file = UUID().uuidString
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(data).write(to: folder.appendingPathComponent(file))
      try store.connection.execute(
        "UPDATE ZPHOTO SET ZDATA = ?1 WHERE ZNAME = ?2", [.blob(ExternalStorage.file(file).bytes), .text(name)])
      try store.close()
      photos[name] = data
    }

    static func photos(in store: URL, model: ManagedObjectModel) throws -> [String: [UInt8]] {
      let store = try PersistentStore.open(at: store, model: model, isReadOnly: true)
      var photos: [String: [UInt8]] = [:]
      for photo in try ManagedObjectContext(store: store).fetch("Photo") {
        guard case .string(let name)? = try photo.value(forAttribute: "name"),
          case .binary(let data)? = try photo.value(forAttribute: "data")
        else {
          Issue.record("a photo lacks its name or data")
          continue
        }
        photos[name] = data
      }
      return photos
    }

    func assistant(_ model: ManagedObjectModel) -> MigrationAssistant {
      MigrationAssistant(store, ModelHistory(current: model, earlier: model == second ? [("first", first)] : []))
    }
  }

  @Test
  func `the previous version opens whole whatever the app does to external files, and so does the restored store`()
    throws
  {
    let album = try Album(count: 6)
    let before = album.photos
    let report = try album.assistant(album.second).migrate()
    #expect(try Album.photos(in: album.store, model: album.second) == before)
    #expect(try Album.photos(in: report.previousVersion.storeURL, model: album.first) == before)

    let deleted = try album.files.prefix(3)
    let connection = try Connection(path: album.store.path, mode: .readWrite)
    for file in deleted {
      try FileManager.default.removeItem(at: file)
      try connection.execute(
        "DELETE FROM ZPHOTO WHERE ZDATA = ?1", [.blob(ExternalStorage.file(file.lastPathComponent).bytes)])
    }
    try connection.close()
    for number in 100..<102 { try album.add("new \(number)", data: Album.data(number), model: album.second) }
    let current = try Album.photos(in: album.store, model: album.second)
    #expect(current.count == 5)
    #expect(try Album.photos(in: report.previousVersion.storeURL, model: album.first) == before)

    // After going back, every photo is there, and the newer store is kept with its own photos.
    let back = try album.assistant(album.first).archive.restorePreviousVersion()
    let previous = try #require(back.previous)
    #expect(try Album.photos(in: album.store, model: album.first) == before)
    #expect(try Album.photos(in: previous.storeURL, model: album.second) == current)

    // The restored app writes rows and a new file, and overwrites each existing file in place.
    try album.add("newer", data: Album.data(200), model: album.first)
    for file in try album.files {
      let handle = try FileHandle(forWritingTo: file)
      try handle.write(contentsOf: Data("overwritten".utf8))
      try handle.close()
    }
    for file in try album.files.dropFirst(4) { try FileManager.default.removeItem(at: file) }
    #expect(try Album.photos(in: report.previousVersion.storeURL, model: album.first) == before)
    #expect(try Album.photos(in: previous.storeURL, model: album.second) == current)

    // After a further migration and a return to the very first version, nothing in it was touched.
    let first = try album.assistant(album.first).archive.restorePreviousVersion(report.previousVersion.id)
    #expect(first.previous != nil)
    #expect(try Album.photos(in: previous.storeURL, model: album.second) == current)
    let restored = try Album.photos(in: album.store, model: album.first)
    #expect(Set(restored.keys) == Set(before.keys))
  }

  @Test func `a store that was lost comes back with files of its own`() throws {
    let album = try Album(count: 4)
    let before = album.photos
    let report = try album.assistant(album.second).migrate()
    try FileManager.default.removeItem(at: album.store)
    try FileManager.default.removeItem(at: try #require(try album.files.first))
    _ = try album.assistant(album.first).archive.restorePreviousVersion()
    #expect(try Album.photos(in: album.store, model: album.first) == before)
    for file in try album.files {
      let handle = try FileHandle(forWritingTo: file)
      try handle.write(contentsOf: Data("overwritten".utf8))
      try handle.close()
    }
    #expect(try Album.photos(in: report.previousVersion.storeURL, model: album.first) == before)
  }

  @Test func `a version that is set aside keeps its external files`() throws {
    let album = try Album(count: 3)
    let before = album.photos
    _ = try album.assistant(album.second).migrateStore()
    // The store is so damaged that nothing can read it; restoring moves it away with its files.
    try Data(repeating: 0x20, count: 9000).write(to: album.store)
    _ = try album.assistant(album.first).archive.restorePreviousVersion()
    #expect(try Album.photos(in: album.store, model: album.first) == before)
    let incompatible = album.store.path + ".heirloom/incompatible"
    let aside = try #require(try FileManager.default.contentsOfDirectory(atPath: incompatible).first)
    let kept = "\(incompatible)/\(aside)/.Album_SUPPORT/_EXTERNAL_DATA"
    #expect(try FileManager.default.contentsOfDirectory(atPath: kept).count == 3)
    for file in try album.files { try FileManager.default.removeItem(at: file) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: kept).count == 3)
  }
}
