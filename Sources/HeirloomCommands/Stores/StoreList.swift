import Foundation
import Heirloom

/// A list of stores' paths, in as many bytes as they have and eight more each.
package struct StorePaths: Sendable {
  private var bytes: [UInt8] = []
  /// The ends of the paths in the bytes.
  private var ends: [Int] = []

  /// Creates a list of some paths.
  package init(_ paths: [String] = []) {
    for path in paths { append(path) }
  }

  /// The number of paths.
  package var count: Int { ends.count }

  /// The first path, if there is one.
  var first: String? { count > 0 ? self[0] : nil }

  /// The path at a position; positions count from 0.
  package subscript(position: Int) -> String {
    String(decoding: bytes[(position > 0 ? ends[position - 1] : 0)..<ends[position]], as: UTF8.self)
  }

  /// Adds a path at the end.
  package mutating func append(_ path: String) {
    bytes += path.utf8
    ends.append(bytes.count)
  }
}

/// A reader of lists of stores.
package enum StoreList {
  /// The character after each path.
  package enum Separator: UInt8, Sendable {
    /// A NUL character, which no path contains.
    case null = 0
    /// A line feed.
    case lineFeed = 0x0A
  }

  /// The longest list that is read, in bytes: more than a million paths.
  private static let limit = 256 << 20

  /// Opens a file, and waits for it if it is a pipe.
  static func open(_ path: String) throws(StoreListError) -> FileHandle {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw .unreadable(list: path, reason: "there is no such file")
    }
    if isFolder.boolValue { throw .unreadable(list: path, reason: "it is a folder") }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw .unreadable(list: path, reason: "the right to read it is missing")
    }
    return handle
  }

  /// Reads a list piece by piece, to the end of the file or the pipe.
  ///
  /// - Parameters:
  ///   - handle: The file.
  ///   - separator: The character after each path.
  ///   - name: The list's name, for messages.
  ///   - body: Takes each path; empty ones are passed over, and the last one need not be ended.
  /// - Throws: ``StoreListError``, or the error of the body.
  static func read(
    _ handle: FileHandle, separator: Separator, name: String, _ body: (String) throws -> Void
  ) throws {
    var parser = Parser(separator: separator, name: name)
    var count = 0
    while true {
      let chunk: Data
      do {
        chunk = try handle.read(upToCount: 1 << 16) ?? Data()
      } catch {
        throw StoreListError.unreadable(list: name, reason: "reading it failed")
      }
      guard !chunk.isEmpty else { return try parser.finish(body) }
      count += chunk.count
      guard count <= limit else {
        throw StoreListError.unreadable(list: name, reason: "it is longer than \(limit >> 20) MiB")
      }
      try parser.take(Array(chunk), body)
    }
  }

  /// Parses a list.
  ///
  /// - Parameters:
  ///   - bytes: The list's content; empty paths are passed over, and the last one need not be ended.
  ///   - separator: The character after each path.
  ///   - name: The list's name, for messages.
  /// - Returns: The paths in their order.
  /// - Throws: ``StoreListError``.
  package static func paths(in bytes: [UInt8], separator: Separator, name: String) throws -> [String] {
    var parser = Parser(separator: separator, name: name)
    var paths: [String] = []
    try parser.take(bytes) { paths.append($0) }
    try parser.finish { paths.append($0) }
    return paths
  }

  /// A finder of the paths in bytes that come piece by piece.
  private struct Parser {
    let separator: Separator
    let name: String
    private var rest: [UInt8] = []
    private var line = 1

    init(separator: Separator, name: String) {
      self.separator = separator
      self.name = name
    }

    mutating func take(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
      var parts = bytes.split(separator: separator.rawValue, omittingEmptySubsequences: false)
      // The bytes after the last separator may continue in the next piece.
      let last = parts.removeLast()
      for part in parts {
        rest += part
        try finish(body)
      }
      rest += last
    }

    /// Takes the bytes since the last separator as a path.
    mutating func finish(_ body: (String) throws -> Void) throws {
      defer {
        rest.removeAll(keepingCapacity: true)
        line += 1
      }
      // A list that was written on Windows ends its lines with two characters.
      if separator == .lineFeed, rest.last == 0x0D { rest.removeLast() }
      guard !rest.isEmpty else { return }
      guard !rest.contains(0) else { throw StoreListError.holdsNull(list: name, line: line) }
      // A name that isn't UTF-8 would come out as another.
      guard let path = String(wellFormedUTF8: rest) else {
        throw StoreListError.notText(list: name, line: line)
      }
      try body(path)
    }
  }

  /// Throws if two of the stores are the same: their migrations would meet.
  ///
  /// - Parameter paths: Absolute paths.
  /// - Throws: ``StoreListError/sameStore(_:_:)`` for two equal paths, and for two that lead to one file.
  package static func checkDistinct(_ paths: StorePaths) throws(StoreListError) {
    let files = POSIXFileOperations()
    var keys = (0..<paths.count).map { Key(paths[$0], position: $0, files: files) }
    keys.sort { ($0.first, $0.second, $0.position) < ($1.first, $1.second, $1.position) }
    for (one, other) in zip(keys, keys.dropFirst()) where (one.first, one.second) == (other.first, other.second) {
      throw .sameStore(paths[one.position], paths[other.position])
    }
  }

  /// A key that two paths of one file share.
  private struct Key {
    let first: UInt64
    let second: UInt64
    let position: Int

    init(_ path: String, position: Int, files: POSIXFileOperations) {
      self.position = position
      // A missing file has no number; its migration will say so.
      let real = (try? StoreLocation(resolving: path, files: files))?.path ?? path
      if let status = (try? files.status(of: real)) ?? nil {
        (first, second) = (status.identity.device, status.identity.inode)
      } else {
        let digest = SHA256.digest(Array(real.utf8))
        // No device has a number of so many bits.
        first = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } | 1 << 63
        second = digest.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      }
    }
  }
}
