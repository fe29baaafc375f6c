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

extension Console {
  /// Returns the whole path of a file that a command is to write.
  ///
  /// - Parameters:
  ///   - word: The word on the command line.
  ///   - option: The option that it follows.
  /// - Returns: An absolute path.
  /// - Throws: ``UsageError/invalidValue(option:value:expected:)`` for a name that SQLite, Core Data or we give a file that
  ///   belongs to a store, ``CommandFailure`` as for any path.
  func outputPath(_ word: String, option: String = "--output") throws -> String {
    let path = try path(word)
    // A link in a folder's place changes no name of SQLite's.
    let real = (try? StoreLocation(resolving: path, files: POSIXFileOperations()))?.path ?? path
    var names = real.names(separatedBy: "/", omittingEmptySubsequences: true)
    let name = names.popLast() ?? ""
    let isInside = names.contains { $0.hasSuffix(StoreLocation.companionSuffix) || StoreLocation.isSupportName($0) }
    let isBeside = (StoreLocation.sideSuffixes + [StoreLocation.companionSuffix]).contains { suffix in
      guard name.hasSuffix(suffix), name.utf8.count > suffix.utf8.count else { return false }
      return FileManager.default.fileExists(atPath: String(real.dropLast(suffix.count)))
    }
    guard isInside || isBeside || StoreLocation.isSupportName(name) else { return path }
    throw UsageError.invalidValue(
      option: option, value: word, expected: "another name, since a file there belongs to a store")
  }
}
