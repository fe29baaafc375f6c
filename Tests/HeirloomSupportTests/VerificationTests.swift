import Foundation
import HeirloomModel
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct VerificationCorpusTests {
  /// Stores whose projects do not ship their files of external data.
  private static let withoutFiles: Set<String> = [
    "store1-25", "store2-21-1", "store2-24-1", "store2-30-0", "store2-31-0", "store2-53-0", "store2-66-0",
    "store2-67-0",
  ]

  @Test(arguments: Corpus.storePaths)
  func `a real store has no fault`(path: String) throws {
    try Corpus.withCopy(of: path) { url in
      let bytes = try contents(of: url)
      let report = try StoreVerification.report(onStoreAt: url.path)
      let name = url.deletingPathExtension().lastPathComponent
      var expected: [StoreFinding.Kind] = Self.withoutFiles.contains(name) ? [.missingExternalFile] : []
      // The store of 2010 has no copy of its model.
      if name == "Recipes" { expected = [.unknownModel] }
      #expect(report.findings.filter { $0.severity < .note }.map(\.kind) == expected, "\(report.findings)")
      #expect(report.isModelFit == (name != "Recipes"))
      #expect(try contents(of: url) == bytes)
    }
  }

  @Test(arguments: StoreDamage.all)
  func `what was done to a store is found and nothing is changed`(damage: StoreDamage) throws {
    try damage.withStore { url in
      let bytes = try contents(of: url)
      let report = try StoreVerification.report(onStoreAt: url.path)
      let findings = report.findings.filter { $0.kind == damage.kind && $0.entity == damage.entity }
      #expect(
        findings.contains { $0.message.contains(damage.words) && $0.severity == damage.severity }, "\(report.findings)")
      #expect(report.hasFaults == (damage.severity < .note))
      #expect(report.findings.map(\.severity) == report.findings.map(\.severity).sorted())
      #expect(try contents(of: url) == bytes)
    }
  }

  @Test func `a file that lost its end or got one more is found`() throws {
    try Corpus.withCopy(of: StoreDamage.store) { url in
      try Connection.execute("PRAGMA wal_checkpoint(TRUNCATE)", on: url.path)
      let whole = try Data(contentsOf: url)
      try (whole + Data("more".utf8)).write(to: url)
      #expect(try kinds(url) == [.trailingBytes])
      try whole.dropLast(5000).write(to: url)
      let found = try kinds(url)
      #expect(found.contains(.truncated))
      #expect(found.contains(.damaged))
      // This is a page in the middle of a table.
      var damaged = whole
      damaged.replaceSubrange(8192..<12_288, with: [UInt8](repeating: 0xa5, count: 4096))
      try damaged.write(to: url)
      #expect(try kinds(url).contains(.damaged))
    }
  }

  @Test func `every model that does not fit is told of`() throws {
    let older = try Corpus.model("zmessaging2.99.0", in: "wire-ios-data-model")
    try Corpus.withCopy(of: StoreDamage.store) { url in
      let candidates = [
        StoreModelCandidate(source: .snapshot, model: older), StoreModelCandidate(source: .file("2.99"), model: older),
        StoreModelCandidate(source: .snapshot, problem: "It is damaged."),
      ]
      let report = try StoreVerification.report(onStoreAt: url.path, candidates: candidates)
      #expect(report.modelSource == .cache)
      #expect(
        report.findings.filter { $0.severity == .warning }.map(\.kind) == [
          .differentSnapshot, .differentModel, .damagedSnapshot,
        ])
      try StoreVerificationFiles.clearCache(url)
      let without = try StoreVerification.report(onStoreAt: url.path, candidates: candidates)
      #expect(without.modelSource == .snapshot)
      #expect(!without.isModelFit)
      #expect(without.findings.contains { $0.kind == .differentHash })
    }
  }

  private func kinds(_ url: URL) throws -> Set<StoreFinding.Kind> {
    Set(try StoreVerification.report(onStoreAt: url.path).findings.filter { $0.severity < .note }.map(\.kind))
  }

  private func contents(of url: URL) throws -> [Data?] {
    ["", "-wal"].map { try? Data(contentsOf: URL(fileURLWithPath: url.path + $0)) }
  }
}

enum StoreVerificationFiles {
  static func clearCache(_ url: URL) throws {
    try Connection.execute("DELETE FROM Z_MODELCACHE", on: url.path)
  }
}

struct VerificationTests {
  /// Makes a model with every kind of property and a uniqueness constraint.
  private static func model() throws -> ManagedObjectModel {
    var entities = try Models.everything().entities
    let index = try #require(entities.firstIndex { $0.name == "Note" })
    entities[index].uniquenessConstraints = [["uri"]]
    entities[index].attributes[0].isOptional = false
    return try ManagedObjectModel(entities: entities)
  }

  private func withStore(_ body: (URL, StoreModelCandidate) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Everything.sqlite")
    let model = try Self.model()
    try StoreGenerator.makeStore(at: url, model: model, objects: 12, seed: 7)
    try withExtendedLifetime(directory) {
      try body(url, StoreModelCandidate(source: .file("Everything"), model: model))
    }
  }

  @Test func `a store that was made by the rules has no fault`() throws {
    try withStore { url, model in
      let report = try StoreVerification.report(onStoreAt: url.path, candidates: [model])
      #expect(report.findings.filter { $0.kind != .missingModelCache } == [])
      #expect(report.modelSource == .file("Everything"))
    }
  }

  /// Changes by SQL, with the resulting findings.
  private static let changes: [(sql: String, severity: StoreFinding.Severity, kind: StoreFinding.Kind, words: String)] =
    [
      ("UPDATE ZNOTE SET ZUUID = x'0102' WHERE Z_PK = 1", .error, .wrongValueType, "Note.uuid"),
      ("UPDATE ZNOTE SET ZPHOTO = x'05' WHERE Z_PK = 1", .error, .wrongValueType, "Note.photo"),
      ("UPDATE ZNOTE SET ZLATITUDE = 'north' WHERE Z_PK = 1", .error, .wrongValueType, "Note.place.geo.latitude"),
      ("UPDATE ZNOTE SET ZDATE = 'today' WHERE Z_PK = 1", .error, .wrongValueType, "Note.date"),
      ("UPDATE ZNOTE SET ZBOOL = 2 WHERE Z_PK = 1", .warning, .valueOutOfRange, "Note.bool"),
      ("UPDATE ZNOTE SET ZA16 = NULL WHERE Z_PK = 1", .warning, .missingRequiredValue, "Note.a16"),
      ("UPDATE ZNOTE SET ZCOVER = NULL", .warning, .disagreeingInverse, "Note.cover"),
      ("UPDATE ZCOVER SET Z2ATTACHMENTS = 999", .error, .danglingLink, "Note.attachments"),
      ("UPDATE ZCOVER SET Z_FOK_2ATTACHMENTS = NULL", .warning, .invalidOrder, "Note.attachments"),
      ("UPDATE ZNOTE SET Z_FOK_AUTHOR = 'first'", .warning, .invalidOrder, "Person.notes"),
      (
        "DROP INDEX Z_Note_UNIQUE_uri; UPDATE ZNOTE SET ZURI = 'same' WHERE ZURI NOT NULL", .error, .duplicateValues,
        "uri"
      ),
      ("DROP INDEX Z_Note_UNIQUE_uri", .warning, .missingIndex, "not enforced"),
      ("UPDATE ZNOTE SET Z_PK = -1 WHERE Z_PK = 1", .warning, .invalidKey, "below 1"),
      ("UPDATE ZPERSON SET Z_ENT = 7", .error, .unknownEntityNumber, "ZPERSON"),
      (
        "UPDATE ZNOTE SET ZPHOTO = CAST(char(2) || '0F0E0D0C-0B0A-0908-0706-050403020100' || char(0) AS BLOB) WHERE Z_PK = 1",
        .error, .missingExternalFile, "0F0E0D0C"
      ),
    ]

  @Test(arguments: changes.indices)
  func `what was done to a generated store is found`(index: Int) throws {
    let change = Self.changes[index]
    try withStore { url, model in
      let connection = try Connection(path: url.path, mode: .readWrite)
      try connection.registerCoreDataFunctions()
      try connection.executeScript(change.sql)
      try connection.close()
      let findings = try StoreVerification.report(onStoreAt: url.path, candidates: [model]).findings
      #expect(
        findings.contains {
          $0.kind == change.kind && $0.severity == change.severity && $0.message.contains(change.words)
        }, "\(findings)")
    }
  }

  @Test func `files of external data are looked for beside the store, and those without an object are told`() throws {
    try withStore { url, model in
      let connection = try Connection(path: url.path, mode: .readWrite)
      let name = "0F0E0D0C-0B0A-0908-0706-050403020100"
      try connection.execute(
        "UPDATE ZNOTE SET ZPHOTO = ?1 WHERE Z_PK = 1", [.blob(ExternalStorage.file(name).bytes)])
      try connection.close()
      let folder = URL(fileURLWithPath: ExternalStorage.folder(forStoreAt: url.path))
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("photo".utf8).write(to: folder.appendingPathComponent(name))
      let unused = UUID().uuidString
      try Data("old".utf8).write(to: folder.appendingPathComponent(unused))
      let link = url.deletingLastPathComponent().appendingPathComponent("link.sqlite")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
      for path in [url.path, link.path] {
        let findings = try StoreVerification.report(onStoreAt: path, candidates: [model]).findings
        #expect(findings.filter { $0.kind != .missingModelCache }.map(\.kind) == [.unusedExternalFile])
        #expect(findings.contains { $0.message.contains(unused) })
      }
      // Core Data writes no empty file.
      try Data().write(to: folder.appendingPathComponent(name))
      let emptied = try StoreVerification.report(onStoreAt: url.path, candidates: [model]).findings
      #expect(emptied.contains { $0.kind == .missingExternalFile && $0.message.contains(name) }, "\(emptied)")
      // Rows that can't be read may name the other file.
      let page = try Connection(reading: url).rows(
        "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'ZNOTE'")
      guard case .integer(let root) = page[0][0], case .integer(let size) = page[0][1] else { return }
      let file = try FileHandle(forUpdating: url)
      try file.seek(toOffset: UInt64((root - 1) * size))
      try file.write(contentsOf: Data(repeating: 0xff, count: Int(clamping: size)))
      try file.close()
      let damaged = try StoreVerification.report(onStoreAt: url.path, candidates: [model]).findings
      #expect(!damaged.isEmpty && !damaged.contains { $0.kind == .unusedExternalFile }, "\(damaged)")
    }
  }

  @Test func `the store's own copy of its model is compared with the metadata`() throws {
    try withStore { url, model in
      let connection = try Connection(path: url.path, mode: .readWrite)
      func kinds() throws -> [StoreFinding.Kind] {
        let report = try StoreVerification.report(onStoreAt: url.path, candidates: [model])
        #expect(report.modelSource == model.source && report.isModelFit)
        return report.findings.map(\.kind)
      }
      try StoreModelCache.write(try #require(model.model), to: connection)
      #expect(try kinds() == [])
      try StoreModelCache.write(try ManagedObjectModel(entities: [EntityDescription(name: "Note")]), to: connection)
      #expect(try kinds() == [.differentModelCache])
      try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'0001'")
      #expect(try kinds() == [.damagedModelCache])
      try connection.execute("DROP TABLE Z_MODELCACHE")
      #expect(try kinds() == [.missingModelCache])
      try connection.close()
    }
  }

  @Test func `what is no store is refused`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Recipes.sqlite")
    #expect(throws: StoreError(path: url.path, problem: .missing)) { try StoreVerification.report(onStoreAt: url.path) }
    let connection = try Connection(path: url.path, mode: .createExclusively())
    try connection.execute("CREATE TABLE recipe (name)")
    try connection.close()
    #expect(throws: StoreError(path: url.path, problem: .notStore(tables: ["recipe"]))) {
      try StoreVerification.report(onStoreAt: url.path)
    }
  }
}
