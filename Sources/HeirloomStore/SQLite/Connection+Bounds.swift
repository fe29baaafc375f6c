import CHeirloomSQLite
import Foundation

/// Bounds on reading hostile files, each far above what a sound store of its size needs.
enum InspectionBounds {
  /// In bytes: a table of 2,000 columns, SQLite's most, with names of 40 letters.
  ///
  /// Parsing takes time with the square of a statement's length: 1 MB of constraints took 23 s.
  static let statementLength: Int32 = 100_000
  /// In bytes, while the schema and the metadata are read.
  static let firstValueLength: Int32 = 1_000_000
  static let patternLength: Int32 = 1000
  /// Another build may have higher ones, or none (https://www.sqlite.org/limits.html).
  static let parserLimits: [(limit: Int32, most: Int32)] = [
    (SQLITE_LIMIT_EXPR_DEPTH, 1000), (SQLITE_LIMIT_COMPOUND_SELECT, 500), (SQLITE_LIMIT_VDBE_OP, 25_000_000),
    (SQLITE_LIMIT_FUNCTION_ARG, 127), (SQLITE_LIMIT_COLUMN, 2000), (SQLITE_LIMIT_TRIGGER_DEPTH, 1000),
  ]
  /// Triggers and views: SQLite takes longer to create one the more there are.
  static let pagelessObjects = 4000
  /// Virtual machine steps between two calls of the progress handler: about one entry.
  static let loadingSteps: Int32 = 8
  static let inspectionSteps: Int32 = 1000

  /// In nanoseconds of processor time; a statement of any kind takes microseconds.
  static func loadingTime(byteCount: Int64) -> Int64 {
    500_000_000 + min(byteCount, 1 << 40) / 20
  }

  /// In virtual machine steps: a row takes about ten for each column read.
  ///
  /// Each table and index has a page of its own, which allows enough work for empty ones.
  static func inspectionWork(byteCount: Int64) -> Int64 {
    8_000_000 + 60 * min(byteCount, 1 << 50)
  }

  /// In bytes: no value in the file is longer than the file.
  static func valueLength(byteCount: Int64) -> Int32 {
    Int32(clamping: max(Int64(firstValueLength), 2 * min(byteCount, 1 << 40)))
  }

  static func processorTime() -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

extension Connection {
  package static var statementLength: Int { Int(InspectionBounds.statementLength) }

  /// The conditions that SQLite's progress handler checks: the caller's and the bound's.
  final class ProgressHandler {
    let shouldInterrupt: (() -> Bool)?
    let isSpent: (() -> Bool)?
    private(set) var hasExpired = false

    init(shouldInterrupt: (() -> Bool)?, isSpent: (() -> Bool)?) {
      (self.shouldInterrupt, self.isSpent) = (shouldInterrupt, isSpent)
    }

    func stops() -> Bool {
      if let isSpent, isSpent() {
        hasExpired = true
        return true
      }
      return shouldInterrupt?() ?? false
    }
  }

  /// A class, because the handler that counts the steps may be replaced.
  final class Work {
    var left: Int64

    init(_ steps: Int64) { left = steps }
  }

  /// Reads the schema with bounds, before the first statement makes SQLite read it without any.
  func loadSchema() throws(SQLiteError) {
    guard needsSchema, let handle else { return }
    needsSchema = false
    defer { installInterruption() }
    let byteCount = fileByteCount
    // A new file has no schema yet, and its page size and the like can still be chosen.
    guard byteCount > 0 else { return }
    let statementLength = sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, InspectionBounds.statementLength)
    let valueLength = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, InspectionBounds.firstValueLength)
    sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, InspectionBounds.patternLength)
    var start: Int64?
    let end = InspectionBounds.loadingTime(byteCount: byteCount)
    install(
      ProgressHandler(shouldInterrupt: interruption) {
        let now = InspectionBounds.processorTime()
        guard let start else {
          start = now
          return false
        }
        return now - start > end
      }, every: InspectionBounds.loadingSteps)
    defer {
      sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, statementLength)
      if options.limitsWork {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, InspectionBounds.valueLength(byteCount: byteCount))
        work = Work(InspectionBounds.inspectionWork(byteCount: byteCount))
      } else {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, valueLength)
      }
    }
    for (limit, most) in InspectionBounds.parserLimits { sqlite3_limit(handle, limit, most) }
    // This call reads the schema if it hasn't been read, and only then looks for the table.
    var status = sqlite3_table_column_metadata(handle, "main", "sqlite_master", nil, nil, nil, nil, nil, nil)
    if status & 0xff == SQLITE_CANTOPEN, makeSideFiles() {
      status = sqlite3_table_column_metadata(handle, "main", "sqlite_master", nil, nil, nil, nil, nil, nil)
    }
    guard status != SQLITE_OK else { return keepTemporaryFilesInMemory() }
    let found = error(status, sql: nil)
    guard found.isTooBig || found.message.hasSuffix(Self.tooBigMessage) else { throw found }
    throw SQLiteError.expired("its schema has a statement of more than \(InspectionBounds.statementLength) bytes")
  }

  /// Temporary files hold the store's data, but would have their own folder's protection class.
  private func keepTemporaryFilesInMemory() {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      let values = try? URL(fileURLWithPath: path).resourceValues(forKeys: [.fileProtectionKey])
      guard let value = values?.fileProtection, value == .complete || value == .completeUnlessOpen else { return }
      sqlite3_exec(handle, "PRAGMA temp_store=MEMORY", nil, nil, nil)
    #endif
  }

  private static let tooBigMessage = "string or blob too big"

  func installInterruption() {
    guard let work else {
      return install(
        interruption.map { ProgressHandler(shouldInterrupt: $0, isSpent: nil) }, every: interruptionSteps)
    }
    let interval =
      interruption == nil
      ? InspectionBounds.inspectionSteps : min(interruptionSteps, 10 * InspectionBounds.inspectionSteps)
    install(
      ProgressHandler(shouldInterrupt: interruption) {
        work.left -= Int64(interval)
        return work.left < 0
      }, every: interval)
  }

  private func install(_ handler: ProgressHandler?, every steps: Int32) {
    sqlite3_progress_handler(
      handle, handler == nil ? 0 : max(1, steps),
      handler == nil
        ? nil
        : { context in
          guard let context else { return 0 }
          return Unmanaged<ProgressHandler>.fromOpaque(context).takeUnretainedValue().stops() ? 1 : 0
        }, handler.map { Unmanaged.passUnretained($0).toOpaque() })
    progressHandler = handler
  }

  /// Of the main file and its `-wal`; 0 if there is neither.
  var fileByteCount: Int64 {
    // SQLite keeps the side files beside the file that a symbolic link points to.
    let main = sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path
    return (DatabaseFile.size(of: main) ?? 0) + (DatabaseFile.size(of: main + "-wal") ?? 0)
  }

  func expiry(_ status: Int32) -> SQLiteError? {
    guard status & 0xff == SQLITE_INTERRUPT, let progressHandler, progressHandler.hasExpired else { return nil }
    return .expired(
      work == nil ? "its schema takes too long to read" : "its content takes too long to read")
  }
}

extension SQLiteError {
  /// `SQLITE_INTERRUPT` with an extended code of our own, which SQLite doesn't use.
  private static let expiredCode: Int32 = SQLITE_INTERRUPT | (0x48 << 8)

  static func expired(_ reason: String) -> SQLiteError {
    SQLiteError(extendedCode: expiredCode, message: reason)
  }

  package var isExpired: Bool { extendedCode == Self.expiredCode }
}
