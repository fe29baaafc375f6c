import Foundation
import Heirloom

/// The loop over rows alone: each note's body is split into verses of another database.
///
/// Managed objects in two contexts are compared with a cursor and a prepared statement.
enum RowBenchmark {
  enum Way: String, CaseIterable {
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

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> ReportTable {
    let original = try work.notes(arguments.notes, seed: arguments.seed)
    let series = try Series(Way.allCases, rounds: arguments.rounds) { way in
      let path = PathText.join(try work.emptyFolder("run"), "Verses.sqlite")
      return try ChildProcess.run(childName, [way.rawValue, original, path], returning: Measurement.self)
    }
    return ReportTable(
      workload: childName, notes: arguments.notes,
      title:
        "rows: \(arguments.notes) notes split into verses of another database; \(arguments.rounds) rounds, in turns",
      rows: Way.allCases.map { series.row($0, $0.rawValue, to: [(.limit, "limit")]) },
      goals: Way.allCases.filter { $0 != .limit }.map { way in
        Goal(
          "\(way.rawValue), time by the limit's", series.ratio(way, to: .limit, \.seconds), .times,
          atMost: way.goalRatio, isBinding: false)
      },
      remarks: ["there is nothing to prove here; the verses of all ways agree"])
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
      let cache = HandWrittenSettings.cache
      let byHand = try HandWrittenConnection(path: storePath)
      try byHand.execute(
        "PRAGMA \(cache); ATTACH '\(path)' AS candidate; PRAGMA candidate.\(cache);"
          + " PRAGMA candidate.journal_mode = OFF; PRAGMA candidate.synchronous = OFF; BEGIN IMMEDIATE")
      verses = try byHand.splitNotes(into: "candidate")
      try byHand.execute("COMMIT")
      byHand.close()
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
    var measured = Measurement(watch)
    measured.peakBytes = ProcessCounters.now().peakBytes
    measured.further = [Figure("verses", Double(verses), .count)]
    measured.sums = try connection.rows(
      "SELECT COUNT(*), SUM(ZPOSITION), SUM(ZNOTE % 97 * ZPOSITION), SUM(LENGTH(ZTEXT)), SUM(Z_PK % 97 * LENGTH(ZTEXT)),"
        + " MAX(ZTEXT), SUM(Z_ENT), SUM(Z_OPT) FROM candidate.ZVERSE"
    ).flatMap { $0.map { "\($0)" } }
    try ChildProcess.answer(measured)
  }

  private static func makeTables(_ schema: PhysicalSchema, at path: String) throws {
    let connection = try Connection(path: path, mode: .createExclusively(), options: .building)
    for statement in schema.tableStatements + PhysicalSchema.bookkeepingStatements { try connection.execute(statement) }
    try schema.writeEntities(to: connection)
    try connection.close()
  }
}
