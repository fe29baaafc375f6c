import Foundation
import Heirloom

/// A limit for comparison, not an example: no lock, and no recovery from a crash in the middle.
///
/// It clones the file, changes the clone in place without a journal, syncs it once, links the old
/// file and renames the clone.
struct HandWrittenMigration {
  /// With an empty `-wal`.
  let path: String
  /// The path of the previous version; its folder exists.
  let keptPath: String
  let workload: MigrationWorkload
  /// The metadata of the new version, a constant of the migration.
  let propertyList: [UInt8]

  private var clonePath: String { path + ".new" }

  /// With `isProven`, the clone is first compared with the old store, as by Heirloom.
  func run(isProven: Bool, watch: inout Stopwatch) throws {
    let clone = try FileClone(of: path, at: clonePath)
    // A clone that shares blocks isn't in memory yet; the plain change reads nothing of it.
    let reading = clone.sharesBlocks && (isProven || workload != .plain) ? EarlyReading(of: clonePath) : nil
    defer { reading?.stop() }
    watch.finish("clone")
    try alter()
    watch.finish("alter")
    let files = POSIXFileOperations()
    if isProven {
      // The disk syncs while the processor proves, as in Heirloom.
      try files.synchronizeFile(clonePath) {
        try HandWrittenProof(path: clonePath, oldPath: path, workload: workload).run()
        watch.finish("prove")
      }
    } else {
      reading?.stop()
      try clone.synchronize()
    }
    watch.finish("sync")
    try files.link(path, to: keptPath)
    try files.rename(clonePath, to: path)
    try files.synchronizeDirectory(StoreLocation(resolving: path, files: files).directory)
    watch.finish("swap")
  }

  private func alter() throws {
    let sortedBytes = workload.indexesTitles ? try POSIXFileOperations().status(of: clonePath)?.size ?? 0 : 0
    let settings = HandWrittenSettings.clone(sortedBytes: sortedBytes)
    guard workload.policy == nil else {
      let table =
        "CREATE TABLE ZVERSE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPOSITION INTEGER,"
        + " ZNOTE INTEGER, ZTEXT VARCHAR );"
      return try HandWrittenSplit.alter(
        path: clonePath, settings: settings, before: table, after: workload.statements, propertyList: propertyList)
    }
    let connection = try Connection(path: clonePath, mode: .readWrite, options: .building)
    for pragma in settings { try connection.execute("PRAGMA \(pragma)") }
    try connection.executeScript("BEGIN IMMEDIATE;\n" + workload.statements)
    try connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?1", [.blob(propertyList)])
    try connection.execute("COMMIT")
    try connection.close()
  }
}

/// Shares the file's blocks if the file system supports that.
struct FileClone: ~Copyable {
  private let path: String
  private let descriptor: Int32
  /// True if no block was copied.
  let sharesBlocks: Bool

  /// The file must not exist; nothing is synced.
  init(of source: String, at path: String) throws(BenchmarkError) {
    (descriptor, sharesBlocks) = try Self.makeClone(of: source, at: path)
    self.path = path
  }

  #if canImport(Darwin)
    private static func makeClone(of source: String, at path: String) throws(BenchmarkError) -> (Int32, Bool) {
      guard copyfile(source, path, nil, copyfile_flags_t(COPYFILE_CLONE)) == 0 else {
        throw .system(call: "copyfile", path: path, code: errno)
      }
      let output = open(path, O_RDWR | O_CLOEXEC)
      guard output >= 0 else { throw .system(call: "open", path: path, code: errno) }
      // The call may have copied the blocks, which only causes an unneeded read.
      return (output, true)
    }
  #else
    private static func makeClone(of source: String, at path: String) throws(BenchmarkError) -> (Int32, Bool) {
      let input = open(source, O_RDONLY | O_CLOEXEC)
      guard input >= 0 else { throw .system(call: "open", path: source, code: errno) }
      defer { _ = close(input) }
      let output = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      guard output >= 0 else { throw .system(call: "open", path: path, code: errno) }
      // FICLONE, see ioctl_ficlone(2).
      if ioctl(output, 0x4004_9409 as UInt, input) == 0 { return (output, true) }
      // As fast as copy_file_range(2), which glibc's headers don't expose to Swift.
      while true {
        let count = sendfile(output, input, nil, 1 << 30)
        if count == 0 { return (output, false) }
        guard count > 0 || errno == EINTR else {
          let code = errno
          _ = close(output)
          throw .system(call: "sendfile", path: path, code: code)
        }
      }
    }
  #endif

  deinit {
    _ = close(descriptor)
  }

  borrowing func synchronize() throws(BenchmarkError) {
    #if canImport(Darwin)
      let status = fcntl(descriptor, F_FULLFSYNC)
    #else
      let status = fsync(descriptor)
    #endif
    guard status == 0 else { throw .system(call: "fsync", path: path, code: errno) }
  }
}
