import Foundation
import Heirloom

/// A file that a command rewrites on each run, replacing only files that it wrote itself.
struct OutputFile {
  let path: String
  /// Near the beginning; the command recognizes its own file by it.
  let mark: String

  /// Another file there is left alone; returns true if the file is new.
  func write(_ text: String) throws -> Bool {
    let isNew: Bool
    switch PathKind(path) {
    case .missing: isNew = true
    case .emptyFile: isNew = false
    case .file where isOwn: isNew = false
    default:
      throw CommandFailure(
        exitCode: .failed, code: "fileExists", coreDataCode: 516,
        message: "\(path) exists and wasn't written by an earlier run; it was not changed.",
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
  /// Throws for a name that SQLite, Core Data or Heirloom uses for a store's files.
  func outputPath(_ word: String, option: String = "--output") throws -> String {
    let path = try path(word)
    // SQLite resolves symbolic links of folders, and so must this check.
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
