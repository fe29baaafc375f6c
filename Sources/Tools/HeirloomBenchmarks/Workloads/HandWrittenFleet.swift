import CHeirloomSQLite
import Foundation
import Heirloom
import HeirloomStore

/// A lower bound for comparison, as written by hand in C: nothing is locked, planned or reported.
///
/// The old version is kept under a second name.
enum HandWrittenFleet {
  static let childName = "fleet-by-hand"

  static func keptPath(_ path: String) -> String { path + ".kept" }

  /// With `isChecked`, `quick_check` must find nothing before a store is replaced.
  static func inChildProcess(_ list: String, jobs: Int, isChecked: Bool) throws -> FleetRun.Measured {
    try ChildProcess.run(
      childName, [list, String(jobs), isChecked ? "checked" : "unchecked"], returning: FleetRun.Measured.self)
  }

  static func runChild(_ words: [String]) throws {
    guard words.count == 3, let jobs = Int(words[1]) else {
      throw BenchmarkError.usage("The run \(childName) needs a list, a number of jobs and whether to check.")
    }
    let list = try POSIXFileOperations().readFile(words[0], limit: 1 << 28)
    let paths = String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init)
    guard let first = paths.first else { throw BenchmarkError.usage("\(words[0]) lists no store.") }
    // All stores have the same model, so the new metadata is a constant.
    var metadata = try StoreMetadata(contentsOf: URL(fileURLWithPath: first))
    metadata.adopt(try MigrationWorkload.additive.destination())
    let change = Change(
      statements: MigrationWorkload.additive.statements, propertyList: try metadata.propertyList(),
      isChecked: words[2] == "checked")
    let counter = SyncCounter()
    let watch = Stopwatch()
    let failures = Locked<[any Error]>([])
    let group = DispatchGroup()
    for job in 0..<jobs {
      DispatchQueue.global().async(group: group) {
        do {
          for index in stride(from: job, to: paths.count, by: jobs) { try change.migrate(paths[index]) }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
    }
    group.wait()
    var measured = FleetRun.Measured(seconds: watch.seconds, processorSeconds: watch.processorSeconds)
    measured.syncs = counter.count
    if let failure = failures.withLock({ $0.first }) { throw failure }
    try ChildProcess.answer(measured)
  }

  private struct Change: Sendable {
    let statements: String
    let propertyList: [UInt8]
    let isChecked: Bool

    func migrate(_ path: String) throws {
      let clonePath = path + ".new"
      let clone = try FileClone(of: path, at: clonePath)
      try alter(clonePath)
      try clone.synchronize()
      try call("link", path, link(path, keptPath(path)))
      try call("rename", path, rename(clonePath, path))
      let folder = open(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), O_RDONLY | O_CLOEXEC)
      try call("open", path, folder)
      defer { _ = close(folder) }
      try call("fsync", path, fsync(folder))
    }

    private func alter(_ path: String) throws {
      var handle: OpaquePointer?
      defer { sqlite3_close(handle) }
      let settings = HandWrittenSettings.clone(sortedBytes: 0).map { "PRAGMA \($0);\n" }.joined()
      var metadata: OpaquePointer?
      defer { sqlite3_finalize(metadata) }
      guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
        sqlite3_exec(handle, settings + "BEGIN IMMEDIATE;\n" + statements, nil, nil, nil) == SQLITE_OK,
        sqlite3_prepare_v2(handle, "UPDATE Z_METADATA SET Z_PLIST = ?1", -1, &metadata, nil) == SQLITE_OK,
        propertyList.withUnsafeBytes({
          sqlite3_bind_blob(metadata, 1, $0.baseAddress, Int32($0.count), heirloom_sqlite_transient())
        }) == SQLITE_OK, sqlite3_step(metadata) == SQLITE_DONE, sqlite3_reset(metadata) == SQLITE_OK,
        sqlite3_exec(handle, "COMMIT", nil, nil, nil) == SQLITE_OK
      else { throw failure(path, handle) }
      if isChecked { try check(handle, path) }
    }

    private func check(_ handle: OpaquePointer?, _ path: String) throws {
      var rows: OpaquePointer?
      defer { sqlite3_finalize(rows) }
      guard sqlite3_prepare_v2(handle, "PRAGMA quick_check", -1, &rows, nil) == SQLITE_OK,
        sqlite3_step(rows) == SQLITE_ROW, let text = sqlite3_column_text(rows, 0), String(cString: text) == "ok"
      else { throw failure(path, handle) }
    }

    private func failure(_ path: String, _ handle: OpaquePointer?) -> BenchmarkError {
      let message = handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "no handle"
      return .unexpectedOutcome(expected: "\(path) migrated by hand", found: message)
    }

    private func call(_ name: String, _ path: String, _ status: Int32) throws(BenchmarkError) {
      guard status >= 0 else { throw .system(call: name, path: path, code: errno) }
    }
  }
}
