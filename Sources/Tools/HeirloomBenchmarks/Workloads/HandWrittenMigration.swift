import Foundation
import Heirloom

/// A limit for comparison, not an example: no lock, and no recovery from a crash in the middle.
///
/// It clones the file, changes the clone in place without a journal, syncs it once, links the old
/// file and renames the clone.
struct HandWrittenMigration {
  let path: String
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
      let connection = try HandWrittenConnection(path: clonePath)
      try connection.begin(
        settings,
        "CREATE TABLE ZVERSE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPOSITION INTEGER,"
          + " ZNOTE INTEGER, ZTEXT VARCHAR );")
      _ = try connection.splitNotes(into: "main")
      try connection.execute(workload.statements)
      try connection.commit(propertyList)
      return connection.close()
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
      try BenchmarkError.check("copyfile", path, copyfile(source, path, nil, copyfile_flags_t(COPYFILE_CLONE)))
      // The call may have copied the blocks, which only causes an unneeded read.
      return (try BenchmarkError.check("open", path, open(path, O_RDWR | O_CLOEXEC)), true)
    }
  #else
    private static func makeClone(of source: String, at path: String) throws(BenchmarkError) -> (Int32, Bool) {
      let input = try BenchmarkError.check("open", source, open(source, O_RDONLY | O_CLOEXEC))
      defer { _ = close(input) }
      let output = try BenchmarkError.check("open", path, open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644))
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
      try BenchmarkError.check("fcntl", path, fcntl(descriptor, F_FULLFSYNC))
    #else
      try BenchmarkError.check("fsync", path, fsync(descriptor))
    #endif
  }
}
