import CHeirloomSQLite
import Foundation

/// It belongs to one task; all its statements must be finalized before ``close()``.
package final class Connection {
  package enum Mode: Hashable, Sendable {
    /// SQLite may still create the side files of a database in WAL mode.
    case readOnly
    case readWrite
    /// The file must not exist.
    case createExclusively(permissions: UInt16 = 0o600)
    /// No process may change the file: SQLite takes no locks and ignores side files.
    case immutable
    case memory
  }

  /// In milliseconds; tests that wait for a lock shorten it for the code that they call.
  package static let usualBusyTimeout = TaskLocal<Int32>(wrappedValue: 5000)

  package struct Options: Equatable, Sendable {
    /// In milliseconds; `nil` for ``Connection/usualBusyTimeout``.
    package var busyTimeout: Int32?
    /// False keeps the main file and its `-wal` as they are on closing.
    package var checkpointsOnClose: Bool = true
    /// Statements that can damage the file are rejected, `journal_mode=OFF` among them.
    package var isDefensive: Bool = true
    package var runsTriggers: Bool = true
    /// Only triggers that feed an R-tree need this: SQLite declared R-trees harmless in 3.41.
    package var trustsSchema: Bool = false
    package var followsSymbolicLink: Bool = true
    /// Even if a link at the path's end is not followed.
    package var followsFolderLinks: Bool = true
    /// Resolving takes exponential time if each view refers twice to the one before.
    package var resolvesViews: Bool = true
    /// Stops a statement that takes more work than a file of this size can need.
    package var limitsWork: Bool = false

    package init() {}

    package static let inspecting: Options = {
      var options = Options()
      options.checkpointsOnClose = false
      options.resolvesViews = false
      options.limitsWork = true
      return options
    }()

    /// For a path whose links are resolved: SQLite rejects a link that appears later.
    package var withoutLinks: Options {
      var options = self
      options.followsSymbolicLink = false
      options.followsFolderLinks = false
      return options
    }

    /// For a new file: no triggers, and the journal may be switched off.
    package static let building: Options = {
      var options = Options()
      options.isDefensive = false
      options.runsTriggers = false
      options.resolvesViews = false
      return options
    }()
  }

  package let path: String
  private(set) var handle: OpaquePointer?
  let options: Options
  private let opening: (name: String, flags: Int32)
  var needsSchema: Bool
  var work: Work?
  /// Checked at least once in every `interruptionSteps` steps of the virtual machine.
  var interruption: (() -> Bool)?
  var interruptionSteps: Int32 = 1
  /// Retained here, because SQLite's progress handler doesn't retain it.
  var progressHandler: ProgressHandler?
  private(set) lazy var expressionFunctions = ExpressionFunctions(connection: self)

  /// Nothing is read before the first statement, which fails if the file is not a database.
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

  /// Throws if a statement is left, and stays open; without this call, errors of closing are lost.
  package func close() throws(SQLiteError) {
    guard let handle else { return }
    try check(sqlite3_close(handle), sql: nil)
    self.handle = nil
    progressHandler = nil
  }

  // MARK: Switches

  package func setRunsTriggers(_ isOn: Bool) throws(SQLiteError) {
    try set(SQLITE_DBCONFIG_ENABLE_TRIGGER, isOn)
  }

  package func setResolvesViews(_ isOn: Bool) throws(SQLiteError) {
    try set(SQLITE_DBCONFIG_ENABLE_VIEW, isOn)
  }

  package func setTrustsSchema(_ isOn: Bool) throws(SQLiteError) {
    try set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, isOn)
  }

  private func set(_ option: Int32, _ isOn: Bool) throws(SQLiteError) {
    try check(heirloom_sqlite_db_config_switch(try openHandle(), option, isOn ? 1 : 0), sql: nil)
  }

  // MARK: State

  package var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

  /// Also true without write permission.
  package var isReadOnly: Bool { handle.map { sqlite3_db_readonly($0, "main") == 1 } ?? false }

  /// Without those of triggers.
  package var changes: Int64 { handle.map { sqlite3_changes64($0) } ?? 0 }

  /// With those of triggers.
  package var totalChanges: Int64 { handle.map { sqlite3_total_changes64($0) } ?? 0 }

  // MARK: Errors

  func openHandle() throws(SQLiteError) -> OpaquePointer {
    guard let handle else {
      throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "the connection is closed")
    }
    return handle
  }

  func check(_ status: Int32, sql: String?) throws(SQLiteError) {
    guard status != SQLITE_OK else { return }
    throw error(status, sql: sql)
  }

  /// For the call that has just failed.
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

  /// Creates the side files of WAL mode; returns true if the first read may now succeed.
  ///
  /// SQLite lets a read-only connection create them itself, but Apple's can't read without them. A
  /// connection that may write changes nothing else: without a `-journal` there is nothing to roll
  /// back.
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
    guard let folder = DatabaseFile.resolved(url.deletingLastPathComponent().path) else { return path }
    return folder + "/" + url.lastPathComponent
  }
}

/// A connection and its statements serve one task at a time, so SQLite uses no mutexes.
@available(*, unavailable)
extension Connection: Sendable {}
