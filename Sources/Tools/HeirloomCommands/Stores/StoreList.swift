import Foundation
import Heirloom

/// Takes the bytes of each path and eight more.
package struct StorePaths: Sendable {
  private var bytes: [UInt8] = []
  /// Of each path in `bytes`.
  private var ends: [Int] = []

  package init(_ paths: [String] = []) {
    for path in paths { append(path) }
  }

  package var count: Int { ends.count }

  var first: String? { count > 0 ? self[0] : nil }

  package subscript(position: Int) -> String {
    String(decoding: bytes[(position > 0 ? ends[position - 1] : 0)..<ends[position]], as: UTF8.self)
  }

  package mutating func append(_ path: String) {
    bytes += path.utf8
    ends.append(bytes.count)
  }
}

package enum StoreList {
  package enum Separator: UInt8, Sendable {
    /// Can't occur in a path.
    case null = 0
    case lineFeed = 0x0A
  }

  /// Of a list, in bytes: more than a million paths.
  private static let limit = 256 << 20

  /// Blocks if the file is a pipe without a writer.
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

  /// Empty paths are skipped, and the last one needs no separator.
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

  package static func paths(in bytes: [UInt8], separator: Separator, name: String) throws -> [String] {
    var parser = Parser(separator: separator, name: name)
    var paths: [String] = []
    try parser.take(bytes) { paths.append($0) }
    try parser.finish { paths.append($0) }
    return paths
  }

  /// Receives the bytes in pieces.
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

    mutating func finish(_ body: (String) throws -> Void) throws {
      defer {
        rest.removeAll(keepingCapacity: true)
        line += 1
      }
      // A list written on Windows ends its lines with CR LF.
      if separator == .lineFeed, rest.last == 0x0D { rest.removeLast() }
      guard !rest.isEmpty else { return }
      guard !rest.contains(0) else { throw StoreListError.holdsNull(list: name, line: line) }
      // A file name that isn't UTF-8 would be changed by decoding.
      guard let path = String(wellFormedUTF8: rest) else {
        throw StoreListError.notText(list: name, line: line)
      }
      try body(path)
    }
  }

  /// Throws ``StoreListError/sameStore(_:_:)`` if two absolute paths are equal or refer to the same
  /// file, because two migrations of one store would collide.
  package static func checkDistinct(_ paths: StorePaths) throws(StoreListError) {
    let files = POSIXFileOperations()
    var keys = (0..<paths.count).map { Key(paths[$0], position: $0, files: files) }
    keys.sort { ($0.first, $0.second, $0.position) < ($1.first, $1.second, $1.position) }
    for (one, other) in zip(keys, keys.dropFirst()) where (one.first, one.second) == (other.first, other.second) {
      throw .sameStore(paths[one.position], paths[other.position])
    }
  }

  /// Equal for all paths of the same file.
  private struct Key {
    let first: UInt64
    let second: UInt64
    let position: Int

    init(_ path: String, position: Int, files: POSIXFileOperations) {
      self.position = position
      // A missing file has no number; its migration reports that.
      let real = (try? StoreLocation(resolving: path, files: files))?.path ?? path
      if let status = (try? files.status(of: real)) ?? nil {
        (first, second) = (status.identity.device, status.identity.inode)
      } else {
        let digest = SHA256.digest(Array(real.utf8))
        // No device number has its highest bit set.
        first = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } | 1 << 63
        second = digest.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      }
    }
  }
}
