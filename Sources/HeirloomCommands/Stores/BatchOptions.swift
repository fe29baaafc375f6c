import Foundation
import Heirloom

/// What a command line says of many stores: how many at a time, and where they are listed.
struct BatchOptions {
  /// How many stores are migrated at a time.
  let jobs: Int
  /// The file with paths, as it was given; `-` for standard input.
  private let list: String?
  private let isNullSeparated: Bool

  /// Reads the options; `nil` when none of them is given.
  init?(_ arguments: Arguments) throws(UsageError) {
    list = arguments.value("--files-from")
    isNullSeparated = arguments.has("--null")
    if isNullSeparated, list == nil { throw .missingOption("--files-from", value: "LIST") }
    guard let text = arguments.value("--jobs") else {
      guard list != nil else { return nil }
      jobs = 1
      return
    }
    guard let count = Int(text), (1...Self.mostJobs).contains(count) else {
      throw .invalidValue(
        option: "--jobs", value: text, expected: "how many stores to migrate at a time, from 1 to \(Self.mostJobs)")
    }
    jobs = count
  }

  /// More have no use, and each keeps files open.
  private static let mostJobs = 64

  /// Returns the stores that the command line names and those of the list, each once.
  ///
  /// - Parameters:
  ///   - named: The paths on the command line.
  ///   - console: Says where paths start from that are not absolute.
  /// - Returns: Absolute paths.
  /// - Throws: `UsageError`, or ``StoreListError`` for a list that can't be read or that names a store twice.
  func paths(besides named: [String], console: Console) throws -> [String] {
    guard list != nil || !named.isEmpty else { throw UsageError.missingArgument("STORE") }
    var paths = named
    if let list {
      let separator: StoreList.Separator = isNullSeparated ? .null : .lineFeed
      let bytes =
        list == "-"
        ? try StoreList.bytes(of: .standardInput, name: "standard input")
        : try StoreList.bytes(ofFile: console.path(list))
      let name = list == "-" ? "standard input" : list
      let listed = try StoreList.paths(in: bytes, separator: separator, name: name).map(console.path)
      let stores = listed.filter { !StoreList.isKept($0) }
      guard !stores.isEmpty || !named.isEmpty else { throw StoreListError.empty(list: name) }
      if stores.count < listed.count {
        let count = counted(Int64(listed.count - stores.count), "store")
        console.log("note: \(count) of the list lie where migrations keep earlier versions, and are passed over")
      }
      paths += stores
    }
    try StoreList.checkDistinct(paths)
    return paths
  }
}

/// Reads lists of stores.
package enum StoreList {
  /// What stands after each path.
  package enum Separator: UInt8, Sendable {
    /// A NUL character, which no path has in it.
    case null = 0
    /// A line feed.
    case lineFeed = 0x0A
  }

  /// The longest list that is read, in bytes: more than a million paths.
  private static let limit = 256 << 20

  /// Reads a file's bytes; it may be a pipe.
  static func bytes(ofFile path: String) throws(StoreListError) -> [UInt8] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw .unreadable(list: path, reason: "there is no such file")
    }
    if isFolder.boolValue { throw .unreadable(list: path, reason: "it is a folder") }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw .unreadable(list: path, reason: "the right to read it is missing")
    }
    return try bytes(of: handle, name: path)
  }

  /// Reads what comes from a file or a pipe until its end.
  static func bytes(of handle: FileHandle, name: String) throws(StoreListError) -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      while let chunk = try handle.read(upToCount: 1 << 16), !chunk.isEmpty {
        guard bytes.count + chunk.count <= limit else { break }
        bytes += chunk
      }
      guard try handle.read(upToCount: 1)?.isEmpty ?? true else {
        throw StoreListError.unreadable(list: name, reason: "it is longer than \(limit >> 20) MiB")
      }
      return bytes
    } catch let error as StoreListError {
      throw error
    } catch {
      throw .unreadable(list: name, reason: "reading it failed")
    }
  }

  /// Takes a list apart.
  ///
  /// - Parameters:
  ///   - bytes: The list's content; empty paths are passed over, and the last one need not be ended.
  ///   - separator: What stands after each path.
  ///   - name: The list's name, for messages.
  /// - Returns: The paths in their order, one at least.
  /// - Throws: ``StoreListError``.
  package static func paths(
    in bytes: [UInt8], separator: Separator, name: String
  ) throws(StoreListError) -> [String] {
    var paths: [String] = []
    for (index, part) in bytes.split(separator: separator.rawValue, omittingEmptySubsequences: false).enumerated() {
      var part = part
      // A list that was written on Windows.
      if separator == .lineFeed, part.last == 0x0D { part.removeLast() }
      if part.isEmpty { continue }
      guard !part.contains(0) else { throw .holdsNull(list: name, line: index + 1) }
      // A name that isn't UTF-8 would come out as another.
      guard let path = String(validating: part, as: UTF8.self) else { throw .notText(list: name, line: index + 1) }
      paths.append(path)
    }
    guard !paths.isEmpty else { throw .empty(list: name) }
    return paths
  }

  /// Whether a path leads to what the vault keeps, as it comes from a search for all files of a name.
  ///
  /// A version that is kept must stay what it is; who wants to migrate one names it on the command line.
  package static func isKept(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    return zip(parts, parts.dropFirst()).contains { folder, name in
      folder.hasSuffix(StoreLocation.companionSuffix) && ["previous", "incompatible", "incoming"].contains(name)
    }
  }

  /// Refuses stores of which two are the same: their migrations would meet.
  ///
  /// - Parameter paths: Absolute paths.
  /// - Throws: ``StoreListError/sameStore(_:_:)`` for two equal paths, and for two that lead to one file.
  package static func checkDistinct(_ paths: [String]) throws(StoreListError) {
    let files = POSIXFileOperations()
    var seen: [String: String] = [:]
    for path in paths {
      // What isn't there has no number; its migration will say so.
      let real = (try? StoreLocation(resolving: path, files: files))?.path ?? path
      let status = (try? files.status(of: real)) ?? nil
      let key = status.map { "\($0.identity.device):\($0.identity.inode)" } ?? real
      if let other = seen.updateValue(path, forKey: key) { throw .sameStore(other, path) }
    }
  }
}

/// Why a list of stores is not taken.
package enum StoreListError: Error, Hashable, Sendable {
  /// The list can't be read.
  case unreadable(list: String, reason: String)
  /// The list has no path in it.
  case empty(list: String)
  /// A line is not UTF-8; lines count from 1.
  case notText(list: String, line: Int)
  /// A line has a NUL character in it.
  case holdsNull(list: String, line: Int)
  /// Two paths lead to one store.
  case sameStore(String, String)
}

extension StoreListError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  package var description: String {
    switch self {
    case .unreadable(let list, let reason):
      "The list of stores \(list) can't be read: \(reason); expected a file with one path a line."
    case .empty(let list): "The list of stores \(list) is empty; expected one path a line."
    case .notText(let list, let line): "Path \(line) of the list \(list) is not UTF-8, and would come out as another."
    case .holdsNull(let list, let line):
      "Line \(line) of the list \(list) has a NUL character in it: with --null, NUL ends each path."
    case .sameStore(let first, let second):
      first == second
        ? "The store \(first) is named twice; expected each store once."
        : "\(first) and \(second) are one and the same store; expected each store once."
    }
  }
}
