import Foundation
import Heirloom
import HeirloomStore

/// A lower bound for comparison, as written by hand in C: nothing is locked, planned or reported.
///
/// The old version is kept under a second name.
enum HandWrittenFleet {
  static let childName = "fleet-by-hand"
  private static let statements = MigrationWorkload.additive.statements

  static func keptPath(_ path: String) -> String { path + ".kept" }

  /// With `isChecked`, `quick_check` must find nothing before a store is replaced.
  static func inChildProcess(_ list: String, jobs: Int, isChecked: Bool) throws -> Measurement {
    try ChildProcess.run(
      childName, [list, String(jobs), isChecked ? "checked" : "unchecked"], returning: Measurement.self)
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
    let propertyList = try metadata.propertyList()
    let isChecked = words[2] == "checked"
    let counter = SyncCounter()
    let watch = Stopwatch()
    let failures = Locked<[any Error]>([])
    let group = DispatchGroup()
    for job in 0..<jobs {
      DispatchQueue.global().async(group: group) {
        do {
          for index in stride(from: job, to: paths.count, by: jobs) {
            try migrate(paths[index], propertyList, isChecked: isChecked)
          }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
    }
    group.wait()
    var measured = Measurement(watch)
    measured.syncs = counter.count
    if let failure = failures.withLock({ $0.first }) { throw failure }
    try ChildProcess.answer(measured)
  }

  private static func migrate(_ path: String, _ propertyList: [UInt8], isChecked: Bool) throws {
    let clonePath = path + ".new"
    let clone = try FileClone(of: path, at: clonePath)
    let connection = try HandWrittenConnection(path: clonePath)
    try connection.begin(HandWrittenSettings.clone(sortedBytes: 0), statements)
    try connection.commit(propertyList)
    if isChecked { try connection.check() }
    connection.close()
    try clone.synchronize()
    try BenchmarkError.check("link", path, link(path, keptPath(path)))
    try BenchmarkError.check("rename", path, rename(clonePath, path))
    let folderPath = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    let folder = try BenchmarkError.check("open", path, open(folderPath, O_RDONLY | O_CLOEXEC))
    defer { _ = close(folder) }
    try BenchmarkError.check("fsync", path, fsync(folder))
  }
}
