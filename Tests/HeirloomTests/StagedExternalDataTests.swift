import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

struct StagedExternalDataTests {
  private let directory: TemporaryDirectory
  private let store: URL
  private let models: [ManagedObjectModel]
  private let photos: [[UInt8]?]

  init() throws {
    directory = try TemporaryDirectory()
    store = directory.file("Album.sqlite")
    photos = [Self.bytes(1, 200_000), nil, [], Self.bytes(2, 40), Self.bytes(3, 150_000)]

    let data = Make.attribute("data", .binary, external: true)
    let photo = Make.entity("Photo", [data])
    var picture = Make.entity("Picture", [data])
    let toPicture = Make.toOne("picture", "Picture", "photo")
    let toPhoto = Make.toOne("photo", "Photo", "picture")
    picture.relationships = [toPhoto]
    var both = photo
    both.relationships = [toPicture]
    var bare = both
    bare.attributes = []
    models = try [[photo], [both, picture], [bare, picture]].map { try ManagedObjectModel(entities: $0) }
  }

  private static func bytes(_ seed: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 7) ^ ($0 >> 8) ^ seed) }
  }

  /// Makes an album whose large photos are in files, where Core Data puts them.
  private func makeStore() throws {
    let store = try PersistentStore.create(at: store, model: models[0])
    let context = ManagedObjectContext(store: store)
    for bytes in photos { try context.insert("Photo").set(bytes, for: "data") }
    try context.save()
    let folder = URL(fileURLWithPath: ExternalStorage.folder(forStoreAt: self.store.path))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (index, bytes) in photos.enumerated() {
      guard let bytes, bytes.count > 100_000 else { continue }
      let name = UUID().uuidString
      try Data(bytes).write(to: folder.appendingPathComponent(name))
      try store.connection.execute(
        "UPDATE ZPHOTO SET ZDATA = ?1 WHERE Z_PK = ?2",
        [.blob(ExternalStorage.file(name).bytes), .integer(Int64(index + 1))])
    }
    try store.close()
  }

  private func stages() throws -> StagedMigrationManager {
    let references = models.map { ManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum()) }
    let copy = CustomMigrationStage(migratingFrom: references[0], to: references[1], label: "copy")
    copy.willMigrateHandler = { context in
      // Each photo can also be read before the hop.
      let seen = try context.fetch("Photo").map { try $0.bytes("data") }
      #expect(seen == photos)
    }
    copy.didMigrateHandler = { context in
      for photo in try context.fetch(ObjectFetchRequest("Photo", where: "data != nil")) {
        let picture = try context.insert("Picture")
        try picture.set(try photo.bytes("data"), for: "data")
        try photo.setObject(picture, forRelationship: "picture")
      }
      try context.save()
    }
    let removal = CustomMigrationStage(migratingFrom: references[1], to: references[2], label: "removal")
    removal.willMigrateHandler = { context in
      for photo in try context.fetch(ObjectFetchRequest("Photo", where: "data != nil")) {
        let picture = try #require(try photo.object(forRelationship: "picture"))
        #expect(try picture.bytes("data") == photo.bytes("data"))
        try photo.setValue(nil, forAttribute: "data")
      }
      try context.save()
    }
    return try StagedMigrationManager([copy, removal])
  }

  @Test func `data in files are read by a stage's code, and the version before keeps its files`() throws {
    try makeStore()
    let assistant = MigrationAssistant(
      store, ModelHistory(current: models[2], earlier: [("1", models[0]), ("2", models[1])]))
    assistant.stagedManager = try stages()
    let report = try assistant.migrate()
    #expect(try Self.pictures(in: store, model: models[2]) == photos)
    let kept = try PersistentStore.open(at: report.previousVersion.storeURL, model: models[0], isReadOnly: true)
    #expect(try ManagedObjectContext(store: kept).fetch("Photo").map { try $0.bytes("data") } == photos)
    try kept.close()

    _ = try assistant.archive.restorePreviousVersion()
    let restored = try PersistentStore.open(at: store, model: models[0], isReadOnly: true)
    #expect(try ManagedObjectContext(store: restored).fetch("Photo").map { try $0.bytes("data") } == photos)
    try restored.close()
  }

  private static func pictures(in url: URL, model: ManagedObjectModel) throws -> [[UInt8]?] {
    let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
    defer { try? store.close() }
    return try ManagedObjectContext(store: store).fetch("Photo").map { photo in
      try photo.object(forRelationship: "picture").flatMap { try $0.bytes("data") }
    }
  }
}
