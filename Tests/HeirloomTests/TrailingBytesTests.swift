import Foundation
import Heirloom
import TestSupport
import Testing

/// Bytes after the pages that a store's header counts: a crash while a file grows leaves them, and SQLite ignores them.
struct TrailingBytesTests {
  enum Journal: CaseIterable, Sendable {
    case rollback, emptyLog, logWithFrames
  }

  struct Tail: Sendable, CustomTestStringConvertible {
    let count: Int
    let isBlank: Bool

    var testDescription: String { "\(count) \(isBlank ? "zeros" : "other bytes")" }

    var bytes: Data {
      var random = SplitMix64(seed: UInt64(count))
      return Data((0..<count).map { _ in isBlank ? 0 : UInt8(random.below(255) + 1) })
    }

    static let all = [1, 511, 4096, 3 * 4096, 3 * 4096 + 1].flatMap { count in
      [true, false].map { Tail(count: count, isBlank: $0) }
    }
  }

  private let directory: TemporaryDirectory
  private let store: URL

  init() throws {
    directory = try TemporaryDirectory()
    store = directory.file("Flights.sqlite")
    try FlightChange.makeStore(at: store)
  }

  private func prepare(_ tail: Tail, _ journal: Journal) throws {
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    _ = try connection.firstValue("PRAGMA journal_mode=\(journal == .rollback ? "DELETE" : "WAL")")
    if journal != .rollback { _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)") }
    if journal == .logWithFrames { try connection.execute("UPDATE ZFLIGHT SET Z_OPT = Z_OPT + 1") }
    let pageSize = try #require(try connection.firstInteger("PRAGMA page_size"))
    let pageCount = try #require(try connection.firstInteger("PRAGMA page_count"))
    #expect(pageSize == 4096)
    try connection.close()
    let file = try FileHandle(forWritingTo: store)
    #expect(try file.seekToEnd() == UInt64(pageSize * pageCount))
    try file.write(contentsOf: tail.bytes)
    try file.close()
    let log = try? Data(contentsOf: URL(fileURLWithPath: store.path + "-wal"))
    #expect((log?.count ?? 0 > 0) == (journal == .logWithFrames))
  }

  /// The bytes of a store but those that leaving WAL mode writes: the mode, and the two counts of changes.
  private func comparable(_ url: URL) throws -> Data {
    var bytes = try Data(contentsOf: url)
    for range in [18..<20, 24..<28, 92..<100] { bytes.replaceSubrange(range, with: Data(count: range.count)) }
    return bytes
  }

  private func migrate(
    to change: FlightChange, _ builder: MigrationPlan.Builder, _ proof: ProofLevel = .standard
  ) throws -> MigrationReport {
    var configuration = MigrationAssistant.Configuration()
    (configuration.losses, configuration.proof) = (.accept, proof)
    let assistant = MigrationAssistant(
      store, from: try FlightChange.before(), to: try change.after(), configuration, builder: .always(builder))
    let report = try assistant.migrate()
    #expect(report.plan.builder == builder)
    return report
  }

  @Test(arguments: Tail.all, [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `a store with bytes after its last page is migrated, and kept as it was`(
    _ tail: Tail, _ builder: MigrationPlan.Builder
  ) throws {
    for journal in Journal.allCases {
      let scene = try TrailingBytesTests()
      try scene.prepare(tail, journal)
      let before = try (Data(contentsOf: scene.store), scene.comparable(scene.store))
      let report = try scene.migrate(to: .renamed, builder, tail.count % 2 == 0 ? .full : .standard)
      let kept = report.previousVersion.storeURL
      switch journal {
      case .rollback: #expect(try Data(contentsOf: kept) == before.0)
      case .emptyLog: #expect(try scene.comparable(kept) == before.1)
      // SQLite itself cuts the file when it moves the log's frames into it.
      case .logWithFrames: break
      }
      for url in [scene.store, kept] {
        #expect(try FlightChange.pilots(in: url) == FlightChange.names.union(FlightChange.ages), "\(journal)")
        let connection = try Connection(reading: url, options: .inspecting)
        #expect(try connection.firstValue("PRAGMA integrity_check")?.text == "ok", "\(journal)")
        try connection.close()
      }
      let size = try #require(try FileManager.default.attributesOfItem(atPath: scene.store.path)[.size] as? Int)
      let bytes = [UInt8](try Data(contentsOf: scene.store))
      #expect(size == 4096 * bytes[28..<32].reduce(0) { $0 << 8 | Int($1) }, "\(journal)")
    }
  }

  @Test func `a store in whose header the number of pages is no longer kept is migrated`() throws {
    // A release of SQLite before 3.7.0 wrote last: the counts of changes differ, and the file's length tells.
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    _ = try connection.firstValue("PRAGMA journal_mode=DELETE")
    try connection.close()
    var bytes = [UInt8](try Data(contentsOf: store))
    bytes[27] &+= 1
    bytes[31] &-= 1
    try Data(bytes).write(to: store)
    _ = try migrate(to: .renamed, .cloneAndAlter)
    #expect(try FlightChange.pilots(in: store) == FlightChange.names.union(FlightChange.ages))
  }
}
