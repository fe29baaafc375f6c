import CHeirloomSQLite
import Foundation

/// The bounds within which a file's schema is read and the file is looked at: whoever made the file chose what that takes.
///
/// Each is far from what a store of the file's size can need, so that a sound store is never refused.
enum LookBounds {
  /// The longest statement of a schema, in bytes: a table of 2,000 columns, SQLite's most, with names of 40 letters.
  ///
  /// Parsing takes a time that grows with the square of a statement's length: 1 MB of constraints took 23 s.
  static let statementLength: Int32 = 100_000
  /// The longest value while the schema and the metadata are read, in bytes.
  static let firstValueLength: Int32 = 1_000_000
  /// The longest pattern of `LIKE` and `GLOB`, in bytes.
  static let patternLength: Int32 = 1000
  /// What SQLite's documentation has for a standard build; another build may have been made with more, or without an end.
  /// https://www.sqlite.org/limits.html
  static let parserLimits: [(limit: Int32, most: Int32)] = [
    (SQLITE_LIMIT_EXPR_DEPTH, 1000), (SQLITE_LIMIT_COMPOUND_SELECT, 500), (SQLITE_LIMIT_VDBE_OP, 25_000_000),
    (SQLITE_LIMIT_FUNCTION_ARG, 127), (SQLITE_LIMIT_COLUMN, 2000), (SQLITE_LIMIT_TRIGGER_DEPTH, 1000),
  ]
  /// The most triggers and views: making one takes SQLite a time that grows with the number of those that are there.
  static let pagelessObjects = 4000
  /// The steps of SQLite's virtual machine between two questions while the schema is read: about one entry.
  static let loadingSteps: Int32 = 8
  /// The steps between two questions while a file is looked at.
  static let lookingSteps: Int32 = 1000

  /// The processor time that a schema may take, in nanoseconds: a statement of each kind takes microseconds.
  static func loadingTime(byteCount: Int64) -> Int64 {
    500_000_000 + min(byteCount, 1 << 40) / 20
  }

  /// The steps of SQLite's virtual machine that a look may take: a row takes some ten for each column that is read.
  static func lookingWork(byteCount: Int64) -> Int64 {
    25_000_000 + 60 * min(byteCount, 1 << 50)
  }

  /// The longest value that a look may meet, in bytes: none in the file is longer than the file.
  static func valueLength(byteCount: Int64) -> Int32 {
    Int32(clamping: max(Int64(firstValueLength), 2 * min(byteCount, 1 << 40)))
  }

  /// The processor time of this thread, in nanoseconds.
  static func processorTime() -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

extension Connection {
  /// The closures that SQLite's progress handler calls, with what is left of the bounds.
  final class ProgressHandler {
    /// The caller's question.
    let shouldInterrupt: (() -> Bool)?
    /// The bound's question.
    let isSpent: (() -> Bool)?
    /// Whether the bound was met.
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

  /// The steps that a look has left; a class, since the handler that counts them may be replaced.
  final class Work {
    var left: Int64

    init(_ steps: Int64) { left = steps }
  }

  /// Reads the schema under bounds, before the first statement: SQLite would do it then, without any.
  ///
  /// - Throws: ``SQLiteError`` as the first statement would, or ``SQLiteError/isExpired``.
  func loadSchema() throws(SQLiteError) {
    guard needsSchema, let handle else { return }
    needsSchema = false
    defer { installInterruption() }
    let byteCount = fileByteCount
    // SQLite makes the schema of a new file, and what makes the file may still choose its form.
    guard byteCount > 0 else { return }
    let statementLength = sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, LookBounds.statementLength)
    let valueLength = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, LookBounds.firstValueLength)
    sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LookBounds.patternLength)
    var start: Int64?
    let end = LookBounds.loadingTime(byteCount: byteCount)
    install(
      ProgressHandler(shouldInterrupt: interruption) {
        let now = LookBounds.processorTime()
        guard let start else {
          start = now
          return false
        }
        return now - start > end
      }, every: LookBounds.loadingSteps)
    defer {
      sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, statementLength)
      if options.limitsWork {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, LookBounds.valueLength(byteCount: byteCount))
        work = Work(LookBounds.lookingWork(byteCount: byteCount))
      } else {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, valueLength)
      }
    }
    for (limit, most) in LookBounds.parserLimits { sqlite3_limit(handle, limit, most) }
    // It reads the schema if it wasn't read, and looks for the table only then.
    let status = sqlite3_table_column_metadata(handle, "main", "sqlite_master", nil, nil, nil, nil, nil, nil)
    guard status != SQLITE_OK else { return }
    let found = error(status, sql: nil)
    guard found.isTooBig || found.message.hasSuffix(Self.tooBigMessage) else { throw found }
    throw SQLiteError.expired("its schema has a statement of more than \(LookBounds.statementLength) bytes")
  }

  private static let tooBigMessage = "string or blob too big"

  /// Installs the caller's question beside the bound's.
  func installInterruption() {
    guard let work else {
      return install(
        interruption.map { ProgressHandler(shouldInterrupt: $0, isSpent: nil) }, every: interruptionSteps)
    }
    let interval = interruption == nil ? LookBounds.lookingSteps : min(interruptionSteps, 10 * LookBounds.lookingSteps)
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

  /// The size of the main file and of what may hold newer pages, in bytes; 0 if there is none.
  var fileByteCount: Int64 {
    // SQLite keeps the side files beside what a symbolic link leads to.
    let main = sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path
    return (DatabaseFile.size(of: main) ?? 0) + (DatabaseFile.size(of: main + "-wal") ?? 0)
  }

  /// Returns the error that stands for a bound that was met; `nil` if none was.
  func expiry(_ status: Int32) -> SQLiteError? {
    guard status & 0xff == SQLITE_INTERRUPT, let progressHandler, progressHandler.hasExpired else { return nil }
    return .expired(
      work == nil ? "its schema takes too long to read" : "what it holds takes too long to read")
  }
}

extension SQLiteError {
  /// SQLite has no such code: that of an interruption, with a number of ours in the place of its details.
  private static let expiredCode: Int32 = SQLITE_INTERRUPT | (0x48 << 8)

  /// An error that says which bound of a look was met.
  static func expired(_ reason: String) -> SQLiteError {
    SQLiteError(extendedCode: expiredCode, message: reason)
  }

  /// Whether a look asked for more than a file of its size can need.
  package var isExpired: Bool { extendedCode == Self.expiredCode }
}
