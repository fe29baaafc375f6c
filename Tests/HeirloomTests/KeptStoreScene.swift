import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// A store with external files, migrated from version to version, whose kept versions a test damages.
struct KeptStoreScene {
  let directory: TemporaryDirectory
  let models: [ManagedObjectModel]
  var store: URL { directory.file("Journal.sqlite") }
  var archive: StoreArchive { StoreArchive(storeURL: store) }

  /// Makes a store of the first of five versions, each of which adds an attribute.
  ///
  /// Each of the objects has a file of its own.
  init(count: Int = 6) throws {
    directory = try TemporaryDirectory()
    models = try (0..<5).map { number in
      let data = Make.attribute("data", .binary, external: true)
      let names = ["name"] + (0..<number).map { "more\($0)" }
      return try ManagedObjectModel(entities: [Make.entity("Item", names.map { Make.attribute($0) } + [data])])
    }
    let opened = try PersistentStore.create(at: store, model: models[0])
    let context = ManagedObjectContext(store: opened)
    try FileManager.default.createDirectory(at: Self.folder(of: store), withIntermediateDirectories: true)
    for number in 0..<count {
      let item = try context.insert("Item")
      item["name"] = .string("item \(number) " + String(repeating: "x", count: 900))
    }
    try context.save()
    for number in 0..<count {
      let name = UUID().uuidString
      try Self.data(number).write(to: Self.folder(of: store).appendingPathComponent(name))
      try opened.connection.execute(
        "UPDATE ZITEM SET ZDATA = ?1 WHERE Z_PK = ?2",
        [.blob(ExternalStorage.file(name).bytes), .integer(Int64(number + 1))])
    }
    try opened.close()
  }

  static func data(_ number: Int) -> Data { Data((0..<2000 + number).map { UInt8(truncatingIfNeeded: $0 &* 7) }) }

  static func folder(of store: URL) -> URL { URL(fileURLWithPath: ExternalStorage.folder(forStoreAt: store.path)) }

  static func files(of store: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder(of: store), includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
  }

  /// By the names of files.
  static func contents(of store: URL) throws -> [String: Data] {
    Dictionary(
      uniqueKeysWithValues: try files(of: store).map { ($0.lastPathComponent, try Data(contentsOf: $0)) })
  }

  @discardableResult
  func launch(_ version: Int, keeping count: Int = 1) throws -> MigrationOutcome {
    let assistant = MigrationAssistant(
      store,
      ModelHistory(
        current: models[version], name: "\(version)",
        earlier: models[..<version].enumerated().map { (name: "\($0.offset)", model: $0.element) }),
      .init(keptVersions: count))
    let outcome = try assistant.migrateStore()
    try ModelController(storeURL: store).archive(models[version])
    return outcome
  }

  /// The indexes of the previous versions' models, the oldest first.
  func kept() throws -> [Int?] {
    try archive.previousVersions().reversed().map { version in
      models.firstIndex { $0.versionChecksum() == version.versionChecksum }
    }
  }
}
