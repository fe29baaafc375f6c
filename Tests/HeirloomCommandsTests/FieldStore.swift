import Foundation
import Heirloom
import HeirloomMapping
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// A store from the field with its known content: it can be put anywhere, as often as needed, and checked later.
///
/// It is one of the corpus if that is present, otherwise a generated one; the app has a table of its own in it.
struct FieldStore {
  enum Shape: String, CaseIterable, Sendable {
    /// In rollback mode, one file.
    case rollback
    /// In WAL mode, with commits that no checkpoint has moved yet; moving them makes the main file longer.
    case wal
  }

  static let name = "Diary.sqlite"
  static let dataSuffixes = ["", "-wal", "-journal"]

  /// The folder of models by which it is migrated to the current one.
  let models: URL
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  private let mapping: MappingModel
  private let master: TemporaryDirectory
  private let before: Content

  struct Content: Equatable {
    var objects: StoreContents
    var others: OtherTables
  }

  /// The content depends only on the shape.
  init(_ shape: Shape) throws {
    master = try TemporaryDirectory()
    let store = master.file(Self.name)
    let generated = Tool.snapshots.appendingPathComponent("Done")
    if Corpus.isPresent {
      models = try Corpus.modelURL("BookmarksModel 6", in: "duckduckgo-bsk").deletingLastPathComponent()
      let copy = try Corpus.copyStore("duckduckgo-bsk/stores/Bookmarks_V3.sqlite", to: master)
      for suffix in ["-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: copy.path + suffix) {
        try FileManager.default.moveItem(atPath: copy.path + suffix, toPath: store.path + suffix)
      }
    } else {
      models = generated
      let first = try #require(try ModelHistory(contentsOf: models).model(named: "Done"))
      try StoreGenerator.makeStore(at: store, model: first, objects: 40, seed: 5)
    }
    try Self.shape(store, as: shape)
    let history = try ModelHistory(contentsOf: models)
    let metadata = try StoreMetadata(contentsOf: store)
    let version = try #require(history.version(withHashes: metadata.versionHashes))
    source = version.model
    destination = history.current
    mapping = try MappingModel.inferred(from: source, to: destination)
    // Apple's SQLite leaves an empty -wal, also when WAL mode is left.
    for suffix in shape == .wal ? ["-shm"] : ["-shm", "-wal"] {
      try? FileManager.default.removeItem(atPath: store.path + suffix)
    }
    before = try Self.content(of: store, model: source)
  }

  private static func shape(_ store: URL, as shape: Shape) throws {
    var options = Connection.Options.building
    options.checkpointsOnClose = false
    let connection = try Connection(path: store.path, mode: .readWrite, options: options)
    try connection.execute("PRAGMA journal_mode=DELETE")
    try connection.execute("CREATE TABLE APPLOG(line BLOB)")
    try log(6, connection)
    if shape == .wal {
      try connection.execute("PRAGMA journal_mode=WAL")
      try connection.execute("PRAGMA wal_autocheckpoint=0")
      try log(30, connection)
    }
    try connection.close()
  }

  private static func log(_ count: Int, _ connection: Connection) throws {
    for number in 0..<count {
      let bytes = (0..<1500).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }
      try connection.execute("INSERT INTO APPLOG VALUES (?1)", [.blob(bytes)])
    }
  }

  /// As the app would, without a checkpoint.
  func log(lines: Int, in store: URL) throws {
    var options = Connection.Options()
    options.checkpointsOnClose = false
    let connection = try Connection(path: store.path, mode: .readWrite, options: options)
    try connection.execute("PRAGMA wal_autocheckpoint=0")
    try Self.log(lines, connection)
    try connection.close()
  }

  func place(in folder: URL) throws -> URL {
    let store = folder.appendingPathComponent(Self.name)
    for suffix in Self.dataSuffixes where FileManager.default.fileExists(atPath: master.file(Self.name).path + suffix) {
      try Data(contentsOf: URL(fileURLWithPath: master.file(Self.name).path + suffix))
        .write(to: URL(fileURLWithPath: store.path + suffix))
    }
    return store
  }

  func bytes(at store: URL) -> [String: Data] {
    Self.dataSuffixes.reduce(into: [:]) { bytes, suffix in
      bytes[suffix] = try? Data(contentsOf: URL(fileURLWithPath: store.path + suffix))
    }
  }

  var byteCount: Int { bytes(at: master.file(Self.name)).values.reduce(0) { $0 + $1.count } }

  // MARK: Inspection

  /// Reads a copy: inspecting it leaves the original and its folder alone.
  private static func content(of store: URL, model: ManagedObjectModel) throws -> Content {
    let directory = try TemporaryDirectory()
    let copy = directory.file(name)
    for suffix in dataSuffixes {
      // A named pipe or a folder in place of a side file can't be read.
      let path = store.path + suffix
      guard (try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType) == .typeRegular
      else { continue }
      try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: copy.path + suffix))
    }
    return try withExtendedLifetime(directory) {
      // A connection that may write rolls a hot journal back.
      let connection = try Connection(path: copy.path, mode: .readWrite)
      let check = try connection.rows("PRAGMA integrity_check").first?.first?.text
      #expect(check == "ok", "\(store.path)")
      try connection.close()
      return Content(
        objects: try StoreContents(of: copy, model: model), others: try OtherTables(of: copy, model: model))
    }
  }

  func contents(of store: URL) throws -> Content { try Self.content(of: store, model: destination) }

  func isOld(_ store: URL) -> Bool {
    (try? Self.content(of: store, model: source)) == before
  }

  func isMigrated(_ store: URL) -> Bool {
    guard let after = try? Self.content(of: store, model: destination) else { return false }
    let differences = KeptObjects.differences(
      before: before.objects, source: source, after: after.objects, destination: destination, mapping: mapping)
    return differences == [] && after.others == before.others && after.objects.count > 0
  }

  /// The newest last.
  func previousVersions(of store: URL) -> [URL] {
    let folder = store.path + ".heirloom/previous"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? []
    return names.filter { VersionName($0) != nil }.map {
      URL(fileURLWithPath: "\(folder)/\($0)/\(store.lastPathComponent)")
    }
  }

  /// The store is migrated, the old one is kept as a previous version, and nothing else is there.
  func checkMigrated(_ store: URL, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(isMigrated(store), comment, sourceLocation: sourceLocation)
    let versions = previousVersions(of: store)
    #expect(versions.count == 1, comment, sourceLocation: sourceLocation)
    #expect(versions.allSatisfy(isOld), comment, sourceLocation: sourceLocation)
    #expect(litter(beside: store) == [], comment, sourceLocation: sourceLocation)
  }

  /// Files in the store's folder that no finished operation leaves there.
  func litter(beside store: URL) -> [String] {
    let folder = store.deletingLastPathComponent().path
    let name = store.lastPathComponent
    guard let enumerator = FileManager.default.enumerator(atPath: folder) else { return ["?"] }
    var litter: [String] = []
    for case let path as String in enumerator {
      var parts = path.split(separator: "/").map(String.init)
      let first = parts.removeFirst()
      if ["", "-wal", "-shm"].contains(where: { first == name + $0 }), parts.isEmpty { continue }
      if first == StoreLocation.supportName(forStore: name) { continue }
      guard first == name + ".heirloom" else {
        litter.append(path)
        continue
      }
      switch parts.count {
      case 0: continue
      case 1 where ["lock", "model.json.gz", "previous", "incoming", "incompatible"].contains(parts[0]): continue
      case 2... where parts[0] == "previous" && VersionName(parts[1]) != nil: continue
      default: litter.append(path)
      }
    }
    return litter.sorted()
  }
}
