import Foundation
import Heirloom
import TestSupport
import Testing
import HeirloomSalvage
import HeirloomSupport

/// Salvage of damaged stores: everything that is there, nothing that wasn't, and never a change to the damaged store.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SalvageTests {
  /// A store of many rows and one of many tables.
  private static let large = "coredataplus/stores/SampleModel2_V1.sqlite"
  private static let wide = StoreDamage.store

  // MARK: Places

  final class Place {
    let directory: TemporaryDirectory
    let url: URL
    let model: ManagedObjectModel
    private var runs = 0

    /// The copy becomes a single file.
    init(_ path: String) throws {
      directory = try TemporaryDirectory()
      let copied = try Corpus.copyStore(path, to: directory)
      try Connection.execute("PRAGMA journal_mode = DELETE", on: copied.path)
      try? FileManager.default.removeItem(atPath: copied.path + "-shm")
      model = try #require(try StoreModelCache.model(inStoreAt: copied))
      let folder = directory.file("damaged")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      url = folder.appendingPathComponent("Diary.sqlite")
      try FileManager.default.moveItem(at: copied, to: url)
    }

    var pageSize: Int { 4096 }

    @discardableResult
    func salvage(
      models: [ManagedObjectModel]? = nil, includesUncertain: Bool = false, what: String = ""
    ) throws -> (report: SalvageReport, url: URL) {
      runs += 1
      let output = directory.file("Salvaged \(runs).sqlite")
      let before = try Folder(url.deletingLastPathComponent())
      var salvage = StoreSalvage(storeURL: url, models: models ?? [model])
      salvage.includesUncertainPages = includesUncertain
      let report = try salvage.run(to: output)
      #expect(try Folder(url.deletingLastPathComponent()) == before, "\(what)")
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
      let left = names.filter { $0.hasPrefix(".salvage-") || $0.hasPrefix(output.lastPathComponent + "-") }
      #expect(left == [])
      // The store opens, and verification finds no error that the damage could have brought. It takes longer than the
      // rest.
      guard runs <= 1 || LongTests.areOn else { return (report, output) }
      let store = try PersistentStore.open(at: output, model: model)
      try store.close()
      let errors = try StoreVerification.report(onStoreAt: output.path).findings.filter { $0.severity == .error }
      #expect(errors == [], "\(what)")
      #expect(report.objects.values.reduce(0, +) == report.tables.reduce(0) { $0 + ($1.isLinks ? 0 : $1.rows) })
      return (report, output)
    }

    func change(_ body: (inout Data) throws -> Void) throws {
      var data = try Data(contentsOf: url)
      try body(&data)
      try data.write(to: url)
    }
  }

  struct Folder: Equatable {
    private var contents: [String: Data] = [:]
    private var times: [String: Date?] = [:]

    init(_ url: URL) throws {
      for name in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
        let path = url.appendingPathComponent(name).path
        contents[name] = FileManager.default.contents(atPath: path) ?? Data()
        times[name] = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      }
    }
  }

  // MARK: Undamaged stores

  private static var soundStores: [String] {
    guard LongTests.areOn else { return [wide, "duckduckgo-bsk/stores/SyncMetadata_V3.sqlite"] }
    // The store without a copy of its model is older than such copies.
    return Corpus.storePaths.filter { !$0.hasSuffix("Recipes.sqlite") }
  }

  @Test(arguments: soundStores)
  func `an undamaged store comes out with the same rows`(path: String) throws {
    let place = try Place(path)
    let oracle = try SalvageOracle(of: place.url, model: place.model)
    let metadata = try StoreMetadata(contentsOf: place.url)
    let (report, url) = try place.salvage(models: [])
    #expect(report.isStructureSound && report.isModelFit == true)
    // The corpus has no files of external data.
    #expect(report.cuts.allSatisfy { $0.kind == .missingFile } && report.leftOut == [] && report.notes == [])
    #expect(report.isComplete == report.cuts.isEmpty)
    if report.isComplete { try oracle.check(url, path) }
    let salvaged = try StoreMetadata(contentsOf: url)
    #expect(salvaged.identifier == metadata.identifier && salvaged.versionHashes == metadata.versionHashes)
    if report.isComplete {
      #expect(try StoreContents(of: url, model: place.model) == StoreContents(of: place.url, model: place.model))
    }
  }

  // MARK: Damage without losses

  @Test(arguments: [wide, large])
  func `header, first page and map of pages can go without a row being lost`(path: String) throws {
    let place = try Place(path)
    let oracle = try SalvageOracle(of: place.url, model: place.model)
    let original = try Data(contentsOf: place.url)
    let (page, all) = (place.pageSize, oracle.rows.values.reduce(0) { $0 + $1.count })
    let damages: [(String, [Range<Int>])] = [
      ("header", [0..<100]), ("first page", [0..<page]), ("map", [page..<2 * page]),
      ("header and map", [0..<100, page..<2 * page]),
    ]
    for (name, ranges) in damages {
      // Each one is slow.
      if (path == Self.large) != (name == "first page"), !LongTests.areOn { continue }
      try place.change { data in
        data = original
        for range in ranges { data.replaceSubrange(range, with: Data(count: range.count)) }
      }
      let (report, url) = try place.salvage(models: name == "header" ? [] : nil, what: name)
      #expect(!report.isStructureSound)
      #expect(report.rowCount == all, "\(name)")
      #expect(report.isComplete, "\(name) \(report)")
      try oracle.check(url, name)
    }
  }

  // MARK: Lost pages

  private func checkZeroing(_ pages: Set<Int>, of place: Place, _ oracle: SalvageOracle, _ original: Data) throws {
    try place.change { data in
      data = original
      for page in pages {
        data.replaceSubrange((page - 1) * place.pageSize..<page * place.pageSize, with: Data(count: place.pageSize))
      }
    }
    let what = "without pages \(pages.sorted())"
    let (report, url) = try place.salvage(what: what)
    let isSchemaLost = !oracle.schemaPages.isDisjoint(with: pages.subtracting([1]))
    try oracle.check(url, lostPages: pages, isSchemaLost: isSchemaLost, what)
    // The report says what is lost.
    let count = oracle.rows.values.reduce(0) { $0 + $1.count }
    if Int(report.rowCount) < count { #expect(!report.isComplete, "\(what)") }
    for table in report.tables where !isSchemaLost && !table.isLinks {
      let before = Int64(oracle.rows[table.table]?.count ?? 0)
      #expect(table.rows + table.rowsLost <= before, "\(what) \(table)")
      if table.rows < before { #expect(!table.isWhole, "\(what) \(table)") }
    }
  }

  @Test func `a row is there unless its own page is lost`() throws {
    let place = try Place(Self.large)
    let oracle = try SalvageOracle(of: place.url, model: place.model)
    let original = try Data(contentsOf: place.url)
    let pageCount = original.count / place.pageSize
    var random = SplitMix64(seed: 7)
    // The root of the largest table leads to all of its leaves; they are found without it.
    let root = try #require(
      try Connection(path: place.url.path, mode: .immutable).firstInteger(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'ZPAGE'"))
    try checkZeroing([Int(root)], of: place, oracle, original)
    for _ in 0..<LongTests.count(quick: 1, long: 60) {
      let pages = (0...random.below(4)).map { _ in 2 + random.below(pageCount - 1) }
      try checkZeroing(Set(pages), of: place, oracle, original)
    }
  }

  @Test func `rows lost are counted by the indexes that name them`() throws {
    let place = try Place(Self.large)
    let oracle = try SalvageOracle(of: place.url, model: place.model)
    let leaf = try #require(oracle.pages["ZPAGE"]?[1]?.first)
    let lost = (oracle.pages["ZPAGE"] ?? [:]).filter { $0.value.contains(leaf) }.keys.sorted()
    try place.change { data in
      data.replaceSubrange((leaf - 1) * place.pageSize..<leaf * place.pageSize, with: Data(count: place.pageSize))
    }
    let report = try place.salvage().report
    let table = try #require(report.tables.first { $0.table == "ZPAGE" })
    #expect(table.rowsLost == Int64(lost.count) && table.lostKeys == Array(lost.prefix(20)))
    #expect(report.unreadablePages == [leaf])
  }

  @Test func `links whose page is lost are found in their indexes`() throws {
    let place = try Place("metacocktails-swiftdata/stores/PreloadedCocktails.store")
    let oracle = try SalvageOracle(of: place.url, model: place.model)
    let pages = oracle.tablePages["Z_1GARNISH"] ?? []
    #expect(!pages.isEmpty)
    try place.change { data in
      for page in pages {
        data.replaceSubrange((page - 1) * place.pageSize..<page * place.pageSize, with: Data(count: place.pageSize))
      }
    }
    let (report, url) = try place.salvage()
    try oracle.check(url, lostPages: pages, "links")
    let table = try #require(report.tables.first { $0.table == "Z_1GARNISH" })
    #expect(table.rows == Int64(oracle.rows["Z_1GARNISH"]?.count ?? -1) && table.rowsFoundApart == table.rows)
  }

  @Test func `half a file gives the half of the rows that is in it`() throws {
    let place = try Place(Self.large)
    let oracle = try SalvageOracle(of: place.url, model: place.model)
    var lost: Set<Int> = []
    try place.change { data in
      let kept = data.count / place.pageSize / 2
      lost = Set(kept + 1...data.count / place.pageSize)
      // Not even the last page is whole.
      data = data.prefix(kept * place.pageSize + 1000)
    }
    let (report, url) = try place.salvage()
    let count = try oracle.check(url, lostPages: lost, "half")
    #expect(count > 1000 && !report.isComplete && report.notes.contains { $0.contains("ends after") })
  }

  @Test func `changed bytes harm the rows of their page alone`() throws {
    let place = try Place(Self.wide)
    let oracle = try SalvageOracle(of: place.url, model: place.model)
    let original = try Data(contentsOf: place.url)
    let pages = oracle.tablePages.values.reduce(into: Set<Int>()) { $0.formUnion($1) }.sorted()
    var random = SplitMix64(seed: 11)
    for _ in 0..<LongTests.count(quick: 3, long: 300) {
      let page = pages[random.below(pages.count)]
      try place.change { data in
        data = original
        for _ in 0...random.below(20) {
          data[(page - 1) * place.pageSize + random.below(place.pageSize)] = UInt8(random.below(256))
        }
      }
      let what = "bytes of page \(page)"
      try oracle.check(try place.salvage(what: what).url, changedPages: [page], what)
    }
  }

  // MARK: Deleted rows

  @Test func `rows that were deleted don't come back`() throws {
    let place = try Place(Self.large)
    try Connection.execute(
      "PRAGMA secure_delete = OFF", "DELETE FROM ZPAGE WHERE Z_PK % 500 <> 0", on: place.url.path, options: .building)
    let oracle = try SalvageOracle(of: place.url, model: place.model)
    let freePages = try Connection(path: place.url.path, mode: .immutable).firstInteger("PRAGMA freelist_count") ?? 0
    #expect(freePages > 100)
    for length in LongTests.areOn ? [100, place.pageSize] : [place.pageSize] {
      try place.change { data in data.replaceSubrange(0..<length, with: Data(count: length)) }
      let (report, url) = try place.salvage(what: "\(length)")
      #expect(report.isComplete)
      try oracle.check(url, "\(length) bytes")
    }
  }

  // MARK: The log

  @Test func `of a damaged log everything but the damaged pages is read`() throws {
    let place = try Place(Self.large)
    // There are sixty commits, each in pages of its own.
    var options = Connection.Options.inspecting
    options.runsTriggers = false
    let connection = try Connection(path: place.url.path, mode: .readWrite, options: options)
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute("PRAGMA wal_autocheckpoint = 0")
    for key in stride(from: 1, through: 3000, by: 50) {
      try connection.execute("UPDATE ZPAGE SET Z_OPT = Z_OPT + 7 WHERE Z_PK = ?1", [.integer(Int64(key))])
    }
    let log = try Data(contentsOf: URL(fileURLWithPath: place.url.path + "-wal"))
    try connection.close()
    try? FileManager.default.removeItem(atPath: place.url.path + "-shm")
    // The undamaged store comes first: its salvage must be what SQLite reads.
    let whole = try place.salvage()
    #expect(whole.report.isComplete && whole.report.isStructureSound)
    let oracle = try SalvageOracle(of: whole.url, model: place.model)
    let changed = oracle.rows["ZPAGE"]?.values.count { ($0["Z_OPT"]?.integer ?? 0) > 7 }
    #expect(changed == 60)

    let logURL = URL(fileURLWithPath: place.url.path + "-wal")
    let frameSize = 24 + place.pageSize
    let frameCount = (log.count - 32) / frameSize
    var damaged = log
    damaged[32 + frameCount / 2 * frameSize + 2000] ^= 0x40
    try damaged.write(to: logURL)
    let cut = try place.salvage(what: "a byte of the log")
    #expect(
      cut.report.notes.contains { $0.contains("1 of the \(frameCount) pages in the \"-wal\"") }, "\(cut.report.notes)")
    let rows = try Connection(reading: cut.url).firstInteger(
      "SELECT COUNT(*) FROM ZPAGE WHERE Z_OPT > 7")
    #expect((rows ?? 0) >= 50)
    #expect(cut.report.rowCount >= whole.report.rowCount - 20)

    // A log that breaks off holds the commits before.
    try log.prefix(32 + frameCount / 3 * frameSize + 500).write(to: logURL)
    let broken = try place.salvage(what: "a log that breaks off")
    let some = try Connection(reading: broken.url).firstInteger(
      "SELECT COUNT(*) FROM ZPAGE WHERE Z_OPT > 7")
    #expect((some ?? 0) > 10 && (some ?? 0) < 60)
    #expect(broken.report.rowCount == whole.report.rowCount)
  }

  // MARK: Refusals

  @Test func `what is no store is refused in a sentence, and nothing is made`() throws {
    let place = try Place(Self.wide)
    let folder = try TemporaryDirectory()
    func refusal(_ url: URL, _ output: URL, _ models: [ManagedObjectModel]) -> SalvageError.Problem? {
      do throws(SalvageError) {
        _ = try StoreSalvage(storeURL: url, models: models).run(to: output)
        return nil
      } catch {
        #expect(error.description.count > 40 && error.recoverySuggestion?.isEmpty == false, "\(error)")
        return error.problem
      }
    }
    let output = folder.file("out.sqlite")
    let (empty, text, sub) = (folder.file("empty"), folder.file("text"), folder.file("folder"))
    try Data().write(to: empty)
    try Data(String(repeating: "Dear diary, today nothing happened. ", count: 2000).utf8).write(to: text)
    try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: false)
    #expect(refusal(folder.file("absent"), output, [place.model]) == .missing)
    #expect(refusal(empty, output, [place.model]) == .empty)
    #expect(refusal(text, output, [place.model]) == .notDatabase)
    #expect(refusal(sub, output, [place.model]) == .notFile(found: "folder"))
    #expect(refusal(place.url, place.url, []) == .sameFile(output: place.url.path))
    #expect(refusal(place.url, text, []) == .outputExists(path: text.path))
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place.url)
    #expect(refusal(place.url, link, []) == .sameFile(output: link.path))
    let other = URL(fileURLWithPath: place.url.path + "-wal")
    #expect(refusal(place.url, other, []) == .sameFile(output: other.path))
    // Nothing tells the model: neither the store nor the caller.
    try Connection.execute("DELETE FROM Z_MODELCACHE", on: place.url.path)
    #expect(refusal(place.url, output, []) == .noModel)
    let foreign = folder.file("foreign.sqlite")
    let tables = try Connection(path: foreign.path, mode: .createExclusively())
    try tables.execute("CREATE TABLE notes (text)")
    try tables.close()
    #expect(refusal(foreign, output, [place.model]) == .notStore)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(names == ["empty", "folder", "foreign.sqlite", "link", "text"])
  }
}
