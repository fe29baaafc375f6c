import Foundation
import Heirloom

/// The loop over rows alone: each note's body is split into verses of another database.
///
/// Managed objects in two contexts are compared with a cursor and a prepared statement.
enum RowBenchmark {
  /// In the order of a round.
  enum Way: String, Codable, CaseIterable {
    /// SQLite's C functions.
    case limit
    /// Bytes that aren't copied.
    case bytes
    case typed
    /// Attribute values of any type.
    case boxed

    /// For the ratio to the limit in a whole migration.
    var goalRatio: Double {
      switch self {
      case .limit: 1
      case .bytes: PerformanceGoals.ratio(.splitting, notes: 0)
      case .typed: PerformanceGoals.ratio(.splittingTyped, notes: 0)
      case .boxed: PerformanceGoals.ratio(.splittingBoxed, notes: 0)
      }
    }
  }

  static let childName = "rows"

  struct Measured: Codable {
    var seconds: Double
    var processorSeconds: Double
    var verses: Int64
    var peakBytes: Int64?
    var sums: [String]
  }

  struct WayReport: Codable {
    var way: Way
    var seconds: Double
    var processorSeconds: Double
    var ratioToLimit: Double
    var processorRatio: Double
    var goalRatio: Double
    var peakBytes: Int64?
  }

  struct Report: Codable {
    var notes: Int
    var verses: Int64
    var rounds: Int
    var ways: [WayReport]
  }

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> Report {
    let original = work.file(MigrationBenchmark.storeName)
    if try POSIXFileOperations().status(of: original) == nil {
      try StoreGenerator(notes: arguments.notes, seed: arguments.seed).makeStore(at: original)
    }
    var measured: [Way: [Measured]] = [:]
    var sums: [String]?
    for round in 0..<arguments.rounds {
      for way in round.isMultiple(of: 2) ? Way.allCases : Way.allCases.reversed() {
        let path = PathText.join(try work.emptyFolder("run"), "Verses.sqlite")
        let result = try ChildProcess.run(childName, [way.rawValue, original, path], returning: Measured.self)
        if let sums, sums != result.sums {
          throw BenchmarkError.differentContents(
            subject: "the verses of \(way.rawValue)", expected: "\(sums)", found: "\(result.sums)")
        }
        sums = result.sums
        measured[way, default: []].append(result)
      }
    }
    let limits = measured[.limit] ?? []
    return Report(
      notes: arguments.notes, verses: limits.first?.verses ?? 0, rounds: arguments.rounds,
      ways: Way.allCases.map { way in
        let runs = measured[way] ?? []
        return WayReport(
          way: way, seconds: runs.map(\.seconds).median, processorSeconds: runs.map(\.processorSeconds).median,
          ratioToLimit: zip(runs, limits).map { $0.seconds / max($1.seconds, 1e-9) }.median,
          processorRatio: zip(runs, limits).map { $0.processorSeconds / max($1.processorSeconds, 1e-9) }.median,
          goalRatio: way.goalRatio, peakBytes: runs.compactMap(\.peakBytes).max())
      })
  }

  static func runChild(_ words: [String]) throws {
    guard words.count == 3, let way = Way(rawValue: words[0]) else {
      throw BenchmarkError.usage("The run \(childName) needs a way, a store and a new store.")
    }
    let (storePath, path) = (words[1], words[2])
    let later = PhysicalSchema(model: try BenchmarkModels.notesWithVerses())
    try makeTables(later, at: path)
    let connection = try Connection(path: storePath, mode: .readWrite, options: .building)
    try connection.execute("PRAGMA \(HandWrittenSettings.cache)")
    try connection.attach(path: path, as: "candidate")
    for pragma in [HandWrittenSettings.cache, "journal_mode = OFF", "synchronous = OFF"] {
      try connection.execute("PRAGMA candidate.\(pragma)")
    }
    let metadata = try StoreMetadata(connection: connection, database: "main", path: storePath)
    let source = PersistentStore(
      viewing: connection, database: "main", path: storePath,
      schema: PhysicalSchema(model: try BenchmarkModels.notes()), metadata: metadata, isReadOnly: true)
    let destination = PersistentStore(
      viewing: connection, database: "candidate", path: path, schema: later, metadata: metadata)

    let watch = Stopwatch()
    var verses: Int64 = 0
    if way == .limit {
      // The C functions need a handle without other statements, so this way has its own connection.
      verses = try HandWrittenSplit.run(storePath: storePath, path: path)
    } else {
      try connection.execute("BEGIN IMMEDIATE")
      let writing = ManagedObjectContext(streamingInto: destination)
      let notes = later.entity(named: "Note")?.number ?? 0
      try ManagedObjectContext(store: source).forEach("Note") { note throws(ManagedObjectError) in
        do {
          verses += try NoteSplitter.split(
            note, way: way, owner: writing.object(number: notes, key: note.key), into: writing)
        } catch {
          throw error as? ManagedObjectError ?? .unknownEntity("\(error)", nearest: nil)
        }
        try writing.writePendingChanges()
        return true
      }
      try writing.writeKeyCounters()
      try connection.execute("COMMIT")
    }
    let (seconds, work) = (watch.seconds, watch.processorSeconds)
    let peak = ProcessCounters.now().peakBytes
    let sums = try connection.rows(
      "SELECT COUNT(*), SUM(ZPOSITION), SUM(ZNOTE % 97 * ZPOSITION), SUM(LENGTH(ZTEXT)), SUM(Z_PK % 97 * LENGTH(ZTEXT)),"
        + " MAX(ZTEXT), SUM(Z_ENT), SUM(Z_OPT) FROM candidate.ZVERSE")
    try ChildProcess.answer(
      Measured(
        seconds: seconds, processorSeconds: work, verses: verses, peakBytes: peak,
        sums: sums.flatMap { $0.map { "\($0)" } }))
  }

  private static func makeTables(_ schema: PhysicalSchema, at path: String) throws {
    let connection = try Connection(path: path, mode: .createExclusively(), options: .building)
    for statement in schema.tableStatements + PhysicalSchema.bookkeepingStatements { try connection.execute(statement) }
    try schema.writeEntities(to: connection)
    try connection.close()
  }
}
