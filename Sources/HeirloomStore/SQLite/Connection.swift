import CHeirloomSQLite
import Foundation

/// A connection to a database.
///
/// It belongs to one task. Statements retain it; all of them must be finalized before ``close()``.
package final class Connection {
  /// The mode in which a database file is opened.
  package enum Mode: Hashable, Sendable {
    /// Read access; SQLite may still create the side files of a database in WAL mode.
    case readOnly
    /// Read and write access; the file must exist.
    case readWrite
    /// Read and write access to a new file, created with the given permission bits; it must not exist before.
    case createExclusively(permissions: UInt16 = 0o600)
    /// Read access to a file that no process changes: SQLite takes no locks, and neither reads nor creates side files.
    case immutable
    /// A database in memory that is deleted with the connection; the path is not used.
    case memory
  }

  /// The time that connections wait for other connections' locks by default, in milliseconds.
  ///
  /// Tests that wait for a lock shorten it for the code that they call.
  package static let usualBusyTimeout = TaskLocal<Int32>(wrappedValue: 5000)

  /// Settings of a connection that take effect before its first statement.
  package struct Options: Equatable, Sendable {
    /// The time to wait for other connections' locks, in milliseconds; `nil` for ``Connection/usualBusyTimeout``.
    package var busyTimeout: Int32?
    /// True if closing the last connection to a WAL database moves its content into the main file.
    ///
    /// If it is false, inspecting a store changes neither the main file nor its `-wal`.
    package var checkpointsOnClose: Bool = true
    /// True if statements that can damage the file are rejected, `journal_mode=OFF` among them.
    package var isDefensive: Bool = true
    /// True if triggers run.
    package var runsTriggers: Bool = true
    /// True if triggers and views may use functions and virtual tables that aren't declared harmless.
    ///
    /// Only a store whose triggers feed an R-tree needs this: SQLite declared R-trees harmless in version 3.41.
    package var trustsSchema: Bool = false
    /// True if a symbolic link at the end of the path is followed.
    package var followsSymbolicLink: Bool = true
    /// True if symbolic links to folders in the path are followed even if a link at its end is not.
    package var followsFolderLinks: Bool = true
    /// True if views are resolved, which takes exponential time if each refers twice to the one before.
    package var resolvesViews: Bool = true
    /// True if a statement is stopped when its work or a value's length exceeds what a file of this size can need.
    package var limitsWork: Bool = false

    /// Creates the settings for normal use of a store.
    package init() {}

    /// The settings for inspecting a store that must not change.
    package static let inspecting: Options = {
      var options = Options()
      options.checkpointsOnClose = false
      options.resolvesViews = false
      options.limitsWork = true
      return options
    }()

    /// The same settings for a path whose links are resolved: SQLite rejects a link that appears later.
    package var withoutLinks: Options {
      var options = self
      options.followsSymbolicLink = false
      options.followsFolderLinks = false
      return options
    }

    /// The settings for building a new file: no triggers, and the journal may be switched off.
    package static let building: Options = {
      var options = Options()
      options.isDefensive = false
      options.runsTriggers = false
      options.resolvesViews = false
      return options
    }()
  }

  /// The path it was opened with; empty for a database in memory.
  package let path: String
  /// The database; `nil` after closing.
  private(set) var handle: OpaquePointer?
  let options: Options
  /// The name and the flags that were passed to SQLite.
  private let opening: (name: String, flags: Int32)
  /// True until the schema is read.
  var needsSchema: Bool
  /// The work that an inspection has left; `nil` if it isn't limited.
  var work: Work?
  /// The caller's condition, checked at least once in every `interruptionSteps` steps of the virtual machine.
  var interruption: (() -> Bool)?
  var interruptionSteps: Int32 = 1
  /// Retained here, because SQLite's progress handler doesn't retain it.
  var progressHandler: ProgressHandler?
  /// The functions of compiled expressions.
  private(set) lazy var expressionFunctions = ExpressionFunctions(connection: self)

  /// Opens a database.
  ///
  /// Nothing is read from the file before the first statement, which is the first to fail if the file is not a
  /// database.
  package init(path: String, mode: Mode, options: Options = Options()) throws(SQLiteError) {
    self.path = mode == .memory ? "" : path
    self.options = options
    switch mode {
    case .readOnly, .readWrite, .immutable: needsSchema = true
    case .createExclusively, .memory: needsSchema = false
    }
    guard !path.utf8.contains(0) else {
      // C would read the path only up to the zero byte, and open another file.
      throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "the path contains a zero byte")
    }
    var flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
    var name = databaseURI(path: path)
    switch mode {
    case .readOnly:
      flags |= SQLITE_OPEN_READONLY
    case .readWrite:
      flags |= SQLITE_OPEN_READWRITE
    case .createExclusively(let permissions):
      try Self.createFile(path, permissions: permissions)
      flags |= SQLITE_OPEN_READWRITE
    case .immutable:
      flags |= SQLITE_OPEN_READONLY
      name = databaseURI(path: path, parameters: "immutable=1")
    case .memory:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      name = ":memory:"
    }
    if !options.followsSymbolicLink, mode != .memory {
      // SQLite's flag rejects links anywhere in the path, even the system's own such as /tmp: resolve the folder.
      name = databaseURI(
        path: options.followsFolderLinks ? Self.resolvingFolder(of: path) : path,
        parameters: mode == .immutable ? "immutable=1" : nil)
      flags |= heirloom_sqlite_open_nofollow()
    }
    opening = (name, flags)
    let status = sqlite3_open_v2(name, &handle, flags, nil)
    guard status == SQLITE_OK, handle != nil else {
      // A failed open still returns a handle, with the error in it.
      var error = SQLiteError(
        extendedCode: handle.map { sqlite3_extended_errcode($0) } ?? status,
        message: handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status)))
      if error.isCannotOpen, sqlite3_system_errno(handle) == EPERM { error = .denied() }
      sqlite3_close_v2(handle)
      handle = nil
      // The file was created a moment ago and belongs to nothing else.
      if case .createExclusively = mode { unlink(path) }
      throw error.isCannotOpen ? SQLiteError.pathLimit(of: path) ?? error : error
    }
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, options.busyTimeout ?? Self.usualBusyTimeout.get())
    try set(SQLITE_DBCONFIG_DQS_DML, false)
    try set(SQLITE_DBCONFIG_DQS_DDL, false)
    try set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, options.trustsSchema)
    try set(SQLITE_DBCONFIG_DEFENSIVE, options.isDefensive)
    try set(SQLITE_DBCONFIG_ENABLE_TRIGGER, options.runsTriggers)
    if !options.resolvesViews { try set(SQLITE_DBCONFIG_ENABLE_VIEW, false) }
    try set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !options.checkpointsOnClose)
  }

  deinit {
    // Statements retain the connection, so none is left.
    sqlite3_close_v2(handle)
  }

  /// Closes the database and reports any error; without this call it closes with the connection's last reference.
  ///
  /// If a statement is left, this throws an error and the connection stays open.
  package func close() throws(SQLiteError) {
    guard let handle else { return }
    try check(sqlite3_close(handle), sql: nil)
    self.handle = nil
    progressHandler = nil
  }

  // MARK: Switches

  /// Enables or disables triggers.
  package func setRunsTriggers(_ isOn: Bool) throws(SQLiteError) {
    try set(SQLITE_DBCONFIG_ENABLE_TRIGGER, isOn)
  }

  /// Enables or disables the resolution of views.
  package func setResolvesViews(_ isOn: Bool) throws(SQLiteError) {
    try set(SQLITE_DBCONFIG_ENABLE_VIEW, isOn)
  }

  /// Sets whether triggers and views may use functions and virtual tables that aren't declared harmless.
  package func setTrustsSchema(_ isOn: Bool) throws(SQLiteError) {
    try set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, isOn)
  }

  private func set(_ option: Int32, _ isOn: Bool) throws(SQLiteError) {
    try check(heirloom_sqlite_db_config_switch(try openHandle(), option, isOn ? 1 : 0), sql: nil)
  }

  // MARK: State

  /// True while a transaction is open.
  package var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

  /// True if the main database can't be written: it was opened for reading, or there is no write permission.
  package var isReadOnly: Bool { handle.map { sqlite3_db_readonly($0, "main") == 1 } ?? false }

  /// The number of rows that the last statement inserted, updated or deleted, without those of triggers.
  package var changes: Int64 { handle.map { sqlite3_changes64($0) } ?? 0 }

  /// The number of rows inserted, updated or deleted since the connection was opened, with those of triggers.
  package var totalChanges: Int64 { handle.map { sqlite3_total_changes64($0) } ?? 0 }

  // MARK: Errors

  /// Returns the handle of an open connection.
  func openHandle() throws(SQLiteError) -> OpaquePointer {
    guard let handle else {
      throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "the connection is closed")
    }
    return handle
  }

  /// Throws the error for a result code other than `SQLITE_OK`.
  func check(_ status: Int32, sql: String?) throws(SQLiteError) {
    guard status != SQLITE_OK else { return }
    throw error(status, sql: sql)
  }

  /// Returns the error of the call that has just failed.
  func error(_ status: Int32, sql: String?) -> SQLiteError {
    if let expiry = expiry(status) { return expiry }
    let current = handle.map { sqlite3_extended_errcode($0) } ?? status
    // The connection's message belongs to its latest error only.
    let isCurrent = handle != nil && current & 0xff == status & 0xff
    let text = isCurrent ? handle.flatMap { sqlite3_errmsg($0) } : sqlite3_errstr(status)
    let error = SQLiteError(
      extendedCode: isCurrent ? current : status, message: text.map { String(cString: $0) } ?? "", sql: sql)
    // An open file of the strictest protection class can't be read any more once the device is locked.
    return error.isInputOutput && sqlite3_system_errno(handle) == EPERM ? .denied(sql: sql) : error
  }

  // MARK: Files

  private static func createFile(_ path: String, permissions: UInt16) throws(SQLiteError) {
    // SQLite has no exclusive creation: create an empty file first, which is an empty database.
    let descriptor = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_RDWR, mode_t(permissions))
    guard descriptor >= 0 else {
      throw SQLiteError(
        extendedCode: SQLITE_CANTOPEN, message: "can't create the file: \(String(cString: strerror(errno)))")
    }
    _ = Foundation.close(descriptor)
  }

  /// Creates the side files of WAL mode for a read-only connection; returns true if the first read may now succeed.
  ///
  /// SQLite lets such a connection create them itself, but Apple's can't read without them. There, a connection that
  /// may write creates them. It changes nothing else: without a `-journal` there is nothing to roll back, and nothing
  /// of the schema is read.
  func makeSideFiles() -> Bool {
    guard opening.flags & SQLITE_OPEN_READONLY != 0, let handle, let file = sqlite3_db_filename(handle, "main"),
      DatabaseFile.size(of: String(cString: file) + "-journal") == nil
    else { return false }
    var writer: OpaquePointer?
    defer { sqlite3_close_v2(writer) }
    let flags = opening.flags & ~SQLITE_OPEN_READONLY | SQLITE_OPEN_READWRITE
    guard sqlite3_open_v2(opening.name, &writer, flags, nil) == SQLITE_OK, let writer,
      heirloom_sqlite_db_config_switch(writer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) == SQLITE_OK
    else { return false }
    return sqlite3_exec(writer, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK
  }

  private static func resolvingFolder(of path: String) -> String {
    let url = URL(fileURLWithPath: path)
    guard let resolved = realpath(url.deletingLastPathComponent().path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved) + "/" + url.lastPathComponent
  }
}

/// A connection and its statements serve one task at a time, so SQLite uses no mutexes.
@available(*, unavailable)
extension Connection: Sendable {}
