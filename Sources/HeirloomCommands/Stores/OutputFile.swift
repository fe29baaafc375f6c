import Foundation
import Heirloom

/// A file that a command writes anew on each run, and that replaces nothing but its own earlier self.
struct OutputFile {
  /// The file.
  let path: String
  /// The words near the beginning by which the command knows its own work.
  let mark: String

  /// Writes the file.
  ///
  /// - Parameter text: The content, which has the mark near its beginning.
  /// - Returns: True if there was no such file before.
  /// - Throws: A failure where something else is in the place, which is left alone.
  func write(_ text: String) throws -> Bool {
    let isNew: Bool
    switch PathKind(path) {
    case .missing: isNew = true
    case .emptyFile: isNew = false
    case .file where isOwn: isNew = false
    default:
      throw CommandFailure(
        exitCode: .failed, code: "fileExists", coreDataCode: 516,
        message: "\(path) is there already and is not what an earlier run wrote; it was left alone.",
        suggestion: "Name another file with --output, or move that one away.")
    }
    try SnapshotFile(path: path, files: POSIXFileOperations()).write(Array(text.utf8))
    return isNew
  }

  private var isOwn: Bool {
    guard let handle = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? handle.close() }
    let start = (try? handle.read(upToCount: 1024)) ?? nil
    return start.map { String(decoding: $0, as: UTF8.self).contains(mark) } ?? false
  }
}
