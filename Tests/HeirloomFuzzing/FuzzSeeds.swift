package import Foundation
import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The starting points of mutations: the sample histories, and small files of the corpus if it is present.
package enum FuzzSeeds {
  private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  package static let snapshots: URL = checkout.appendingPathComponent("Snapshots")

  static func model(_ path: String) throws -> ManagedObjectModel {
    try ModelFile.read(snapshots.appendingPathComponent(path).path).model
  }

  /// The reader accepts them unchanged; at least one, always in the same order.
  package static func inputs(for target: FuzzTarget, folder: URL) throws -> [[UInt8]] {
    switch target {
    case .archivedValue: try archivedValues()
    case .propertyList: try propertyLists()
    case .compiledModel: try models().map { try ModelArchiveWriter.archive($0) } + corpus(".mom", limit: 16_000)
    case .modelCache: try models().map { try ModelArchiveWriter.cache($0) }
    case .modelSource:
      try samples { $0.hasSuffix(".xcdatamodel/contents") }.map { Array(try Data(contentsOf: $0)) }
        + corpus(".xcdatamodel/contents", limit: 6_000)
    case .snapshot:
      try models().map { try ModelSnapshot(model: $0, archivedAt: Date(timeIntervalSince1970: 0)).bytes(.compressed) }
    case .mappingSource: [Array(mappingSource.utf8)] + corpus("xcmapping.xml", limit: 60_000)
    case .compiledMapping: try mappings().map { try MappingArchiveWriter.archive($0) } + corpus(".cdm", limit: 16_000)
    case .expression: expressions.map { Array($0.utf8) }
    case .predicate: predicates.map { Array($0.utf8) }
    case .swiftSource: swiftSources.map { Array($0.utf8) }
    case .logText: logs.map { Array($0.utf8) }
    case .store: try stores(in: folder)
    case .surroundings: Surroundings.samples()
    }
  }

  private static func samples(where matches: (String) -> Bool) throws -> [URL] {
    let paths = FileManager.default.enumerator(atPath: snapshots.path)?.allObjects as? [String] ?? []
    return paths.filter(matches).sorted().map { snapshots.appendingPathComponent($0) }
  }

  private static func models() throws -> [ManagedObjectModel] {
    try samples { $0.hasSuffix(".json") && !$0.hasSuffix("lock.json") }.map { try ModelFile.read($0.path).model }
  }

  private static func corpus(_ ending: String, limit: Int) -> [[UInt8]] {
    let path = ProcessInfo.processInfo.environment["HEIRLOOM_CORPUS"]
    let folder =
      path.map { URL(fileURLWithPath: $0) }
      ?? checkout.deletingLastPathComponent()
      .appendingPathComponent("shared/corpus")
    let paths = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
    return paths.filter { $0.hasSuffix(ending) }.sorted()
      .compactMap { try? Data(contentsOf: folder.appendingPathComponent($0)) }
      .filter { $0.count <= limit }.prefix(12).map { Array($0) }
  }

  private static func archivedValues() throws -> [[UInt8]] {
    let values: [ArchivedValue] = [
      .strings(["Why?", nil, "Grüße 👋"]),
      .dictionary([.string("a"): .integer(1), .string("b"): .array([.boolean(true)])]),
      .set([.string("x"), .double(2.5), .decimal("12.50")]), .uuid(Array(0..<16)), .url("https://example.org/a?b"),
      .date(10), .data(Array(0...255)),
      .array([.array([.array([.null])]), .string(String(repeating: "long ", count: 40))]),
    ]
    return try values.map { try $0.encoded() } + models().prefix(2).map { try ModelArchiveWriter.archive($0) }
  }

  private static func propertyLists() throws -> [[UInt8]] {
    let value: PropertyListValue = .dictionary([
      "text": .string("Grüße"), "list": .array([.integer(-3), .real(1.5), .boolean(true), .uid(7), .null]),
      "date": .date(5), "bytes": .data([1, 2, 3]), "large": .wideInteger(high: 0, low: .max),
      "inner": .dictionary(["a": .array([]), "b": .dictionary([:])]),
    ])
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict><key>a</key><array><integer>-3</integer><real>1.5</real><true/><false/></array>
      <key>b</key><date>2026-01-02T03:04:05Z</date><key>c</key><data>AQID</data><key>d</key><string>a &amp; b</string>
      <key>e</key><dict><key>f</key><integer>18446744073709551615</integer></dict></dict></plist>
      """
    return [try BinaryPropertyListWriter.bytes(of: value), Array(xml.utf8)]
      + (try samples { $0.hasSuffix(".xccurrentversion") }.map { Array(try Data(contentsOf: $0)) })
  }

  private static func mappings() throws -> [MappingModel] {
    let models = try models()
    return zip(models, models.dropFirst()).compactMap { try? MappingInference(from: $0, to: $1).mappingModel() }
  }

  private static func stores(in folder: URL) throws -> [[UInt8]] {
    var stores: [[UInt8]] = []
    for (name, mode) in [("Done.json", "DELETE"), ("Done 2.json", "WAL"), ("Done.json", "WAL")] {
      let url = folder.appendingPathComponent("Seed.sqlite")
      let store = try PersistentStore.create(at: url, model: try model("Done/\(name)"))
      try fill(store)
      if stores.count == 2 {
        try store.connection.executeScript(
          """
          CREATE TABLE settings (name TEXT PRIMARY KEY, value) WITHOUT ROWID; INSERT INTO settings VALUES ('a', 1);
          CREATE VIEW names AS SELECT upper(ZNAME) AS n FROM ZITEM;
          CREATE TRIGGER noted AFTER DELETE ON ZITEM BEGIN INSERT INTO settings VALUES (old.ZNAME, 1); END;
          CREATE INDEX shown ON ZITEM (ZDONE, ZNAME COLLATE NOCASE) WHERE ZNAME IS NOT NULL;
          """)
      }
      try store.connection.execute("PRAGMA journal_mode = DELETE")
      try store.close()
      var bytes = Array(try Data(contentsOf: url))
      // The header tells the journal mode; the file alone is the store.
      if mode == "WAL" { (bytes[18], bytes[19]) = (2, 2) }
      stores.append(bytes)
      try FileManager.default.removeItem(at: url)
    }
    return stores
  }

  /// For a store of the sample "Done".
  static func fill(_ store: PersistentStore) throws {
    let context = ManagedObjectContext(store: store)
    for number in 0..<6 {
      let item = try context.insert("Item")
      try item.setValue(.string("item \(number)"), forAttribute: "name")
      try item.setValue(.date(Double(number)), forAttribute: "createdAt")
      try item.setValue(.boolean(number.isMultiple(of: 2)), forAttribute: "done")
    }
    for entity in ["List", "User"] where store.model.entity(named: entity) != nil {
      try context.insert(entity).setValue(.string("one"), forAttribute: "name")
    }
    try context.save()
  }
}
