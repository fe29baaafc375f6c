import Foundation
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// A small store in a folder of its own, with a migration from version 1 to version 2 in plain SQL.
struct VaultFixture {
  enum Shape: CaseIterable, Sendable {
    case rollback
    /// A `-wal` with rows that the main file lacks.
    case wal
    /// A rollback journal of 0 bytes, as the mode TRUNCATE leaves it.
    case coldJournal
    /// A journal with a zeroed header, as the mode PERSIST leaves it.
    case persistedJournal
    /// A `-wal` without bytes, and a `-shm`.
    case emptyWAL
  }

  struct Content: Hashable {
    var version: Int64
    var rows: [[SQLiteValue]]
    var journalMode: String?
  }

  let directory: QuickDirectory
  let location: StoreLocation

  init(_ shape: Shape = .rollback, rows: Int = 40, externalFiles: Int = 0) throws {
    directory = try QuickDirectory()
    location = try StoreLocation(resolving: directory.file("Journal.sqlite").path, files: POSIXFileOperations())
    var options = Connection.Options()
    options.checkpointsOnClose = false
    let connection = try Connection(
      path: location.path, mode: .createExclusively(permissions: 0o640), options: options)
    try connection.execute("PRAGMA page_size=1024")
    try connection.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")
    try connection.execute("PRAGMA user_version=1")
    try Self.writeMetadata(generation: 1, to: connection)
    if shape == .wal { try connection.execute("PRAGMA journal_mode=WAL") }
    try connection.execute("PRAGMA synchronous=OFF")
    try connection.execute("BEGIN")
    for row in 0..<rows {
      try connection.execute(
        "INSERT INTO note(text) VALUES (?1)", [.text(String(repeating: "row \(row) ", count: 1 + row % 30))])
    }
    try connection.execute("COMMIT")
    try connection.close()
    switch shape {
    case .rollback, .wal: break
    case .coldJournal: try Data().write(to: url(location.path + "-journal"))
    case .persistedJournal: try Data(repeating: 0, count: 2_048).write(to: url(location.path + "-journal"))
    case .emptyWAL:
      try Data().write(to: url(location.path + "-wal"))
      try Data(repeating: 0, count: 32_768).write(to: url(location.path + "-shm"))
    }
    if externalFiles > 0 {
      let folder = url(location.support).appendingPathComponent("_EXTERNAL_DATA")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for number in 0..<externalFiles {
        try Data(repeating: UInt8(number), count: 1_000).write(to: folder.appendingPathComponent("FILE-\(number)"))
      }
    }
  }

  init(empty: Void) throws {
    directory = try QuickDirectory()
    location = try StoreLocation(resolving: directory.file("Journal.sqlite").path, files: POSIXFileOperations())
  }

  /// Copies rights and hard links too, in a fraction of the time that making the store again takes.
  ///
  /// Nobody may have the store open.
  init(copyOf other: VaultFixture) throws {
    directory = try QuickDirectory()
    location = try StoreLocation(resolving: directory.file("Journal.sqlite").path, files: POSIXFileOperations())
    let (source, target) = (other.location.directory, location.directory)
    let files = POSIXFileOperations()
    var copies: [FileStatus.Identity: String] = [:]
    for (path, status) in try other.entries() {
      let copy = target + path
      if status.kind == .directory {
        try files.makeDirectory(copy, attributes: status.attributes)
      } else if let linked = copies[status.identity] {
        try files.link(linked, to: copy)
      } else {
        let bytes = try files.readFile(source + path, limit: 1 << 24)
        try files.writeNewFile(copy, bytes: bytes, attributes: status.attributes)
        copies[status.identity] = copy
      }
    }
  }

  func url(_ path: String) -> URL { URL(fileURLWithPath: path) }

  func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  // MARK: The vault

  static let snapshot: [UInt8] = Array("a snapshot".utf8)
  /// The store's model has no entities.
  static let checksum = ManagedObjectModel.versionChecksum(of: [:])

  func vault(
    _ files: any FileOperations = POSIXFileOperations(), holdTimeout: Duration = .milliseconds(60),
    allowsLostProtection: Bool = false, events: @escaping (VaultEvent) throws -> Void = { _ in }
  ) -> StoreVault {
    var configuration = VaultConfiguration()
    configuration.holdTimeout = holdTimeout
    configuration.allowLostProtection = allowsLostProtection
    configuration.lockTimeout = .seconds(20)
    configuration.now = { 1_795_428_900 }
    return StoreVault(location, files: files, configuration: configuration, events: events)
  }

  @discardableResult
  func migrate(_ vault: StoreVault, addsExternalFile: Bool = false) throws -> PreviousVersionFiles? {
    try vault.replaceStore(
      prepare: {
        let connection = try Connection(path: location.path, mode: .readWrite, options: .inspecting)
        if try connection.firstInteger("PRAGMA user_version") == 2 { return nil }
        return StoreReplacement(
          previousSnapshot: Self.snapshot, previousChecksum: Self.checksum, bytesNeeded: 10_000)
      },
      build: { hold, candidate in
        let connection = hold.connection
        try connection.attach(path: candidate, as: "candidate")
        defer { try? connection.detach("candidate") }
        try connection.execute("PRAGMA candidate.synchronous=OFF")
        try connection.execute("PRAGMA candidate.journal_mode=OFF")
        try connection.execute("CREATE TABLE candidate.note(id INTEGER PRIMARY KEY, text TEXT, added INTEGER)")
        try connection.execute("INSERT INTO candidate.note SELECT id, text, 7 FROM main.note ORDER BY id")
        try connection.execute("PRAGMA candidate.user_version=2")
        try Self.writeMetadata(generation: 2, to: connection, database: "candidate")
        if addsExternalFile {
          let folder = url(candidate).deletingLastPathComponent().appendingPathComponent(location.supportName)
          let inner = folder.appendingPathComponent("_EXTERNAL_DATA")
          try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
          try Data([9, 9]).write(to: inner.appendingPathComponent("NEW"))
        }
      },
      prove: { hold, candidate in
        let connection = hold.connection
        try connection.attach(path: candidate, as: "candidate", mode: .readOnly)
        defer { try? connection.detach("candidate") }
        let counts = try connection.rows(
          "SELECT (SELECT count(*) FROM main.note), (SELECT count(*) FROM candidate.note)")
        #expect(counts.first?.first == counts.first?.last)
      })
  }

  static func writeMetadata(generation: Int, to connection: Connection, database: String = "main") throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(database).Z_METADATA"
        + " (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
    var metadata = StoreMetadata(model: try ManagedObjectModel(entities: []), identifier: "STORE")
    metadata.generation = "generation \(generation)"
    try metadata.write(to: connection, database: database)
  }

  // MARK: Reading

  func content(_ path: String? = nil) throws -> Content {
    let connection = try Connection(path: path ?? location.path, mode: .readWrite)
    #expect(try connection.firstValue("PRAGMA integrity_check")?.text == "ok")
    let content = Content(
      version: try connection.firstInteger("PRAGMA user_version") ?? 0,
      rows: try connection.rows("SELECT id, text FROM note ORDER BY id"),
      journalMode: try connection.firstValue("PRAGMA journal_mode")?.text)
    try connection.close()
    return content
  }

  /// Like `content(_:)`, but records no issue.
  func quietContent(_ path: String) throws -> Content {
    let connection = try Connection(path: path, mode: .readWrite)
    return Content(
      version: try connection.firstInteger("PRAGMA user_version") ?? 0,
      rows: try connection.rows("SELECT id, text FROM note ORDER BY id"), journalMode: nil)
  }

  func addRow(_ text: String) throws {
    let connection = try Connection(path: location.path, mode: .readWrite)
    try connection.execute("INSERT INTO note(text) VALUES (?1)", [.text(text)])
    try connection.close()
  }

  /// Keyed by relative path; the lock file is left out.
  func bytes() throws -> [String: Data] {
    var bytes: [String: Data] = [:]
    guard let enumerator = FileManager.default.enumerator(atPath: location.directory) else { return bytes }
    for case let path as String in enumerator {
      let file = url(location.directory).appendingPathComponent(path)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder), !isFolder.boolValue,
        file.path != location.lock
      else { continue }
      bytes[path] = try Data(contentsOf: file)
    }
    return bytes
  }

  /// Everything that a later run finds: names, rights, hard links and bytes.
  struct State: Hashable {
    fileprivate var lines: [String] = []
    fileprivate var bytes = Data()
  }

  /// Equal folders in different places have equal states.
  func state() throws -> State {
    var state = State()
    var numbers: [FileStatus.Identity: Int] = [:]
    for (path, status) in try entries() {
      guard status.kind != .directory else {
        state.lines.append("\(path) \(status.mode)")
        continue
      }
      let number = numbers[status.identity, default: numbers.count]
      numbers[status.identity] = number
      state.lines.append("\(path) \(status.mode) \(status.size) file \(number) of \(status.linkCount)")
      state.bytes.append(
        contentsOf: try POSIXFileOperations().readFile(location.directory + path, limit: 1 << 24))
    }
    return state
  }

  /// Paths are relative to the store's folder; each follows its folder.
  private func entries(in folder: String = "") throws -> [(path: String, status: FileStatus)] {
    let files = POSIXFileOperations()
    return try files.names(in: location.directory + folder).sorted().flatMap { name in
      let path = folder + "/" + name
      let status = try #require(try files.status(of: location.directory + path))
      let inside = status.kind == .directory ? try entries(in: path) : []
      return [(path, status)] + inside
    }
  }

  /// Checks that a run that is over holds neither the vault's lock nor the store.
  func checkLetGo(_ note: Comment) throws {
    if exists(location.lock) {
      // A process that another test starts has the lock's file open for a moment.
      #expect(try POSIXFileOperations().lock(location.lock, timeout: .seconds(5)) != nil, note)
    }
    guard exists(location.path) else { return }
    var options = Connection.Options()
    options.busyTimeout = 0
    let connection = try Connection(path: location.path, mode: .readWrite, options: options)
    #expect(throws: Never.self, note) { try connection.execute("BEGIN EXCLUSIVE") }
  }

  func leftovers() throws -> [String] {
    var found: [String] = []
    let companion = (try? FileManager.default.contentsOfDirectory(atPath: location.companion)) ?? []
    found += companion.filter { !["lock", "previous", "incoming", "model.json.gz", "incompatible"].contains($0) }
    found += ((try? FileManager.default.contentsOfDirectory(atPath: location.incoming)) ?? []).map { "incoming/" + $0 }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: location.previous)) ?? []
    where VersionName(name) == nil || !exists("\(location.previous)/\(name)/manifest.json") {
      found.append("previous/" + name)
    }
    return found
  }

  func externalNames() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: location.support + "/_EXTERNAL_DATA")) ?? []).sorted()
  }
}

/// A folder in memory if the system has such a place: hundreds of runs with a dozen syncs each are quick there.
final class QuickDirectory: Sendable {
  let url: URL

  init() throws {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let parent =
      FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    url = parent.appendingPathComponent("heirloom-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
