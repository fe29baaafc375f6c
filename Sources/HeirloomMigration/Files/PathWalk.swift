#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The way to what a path names: through links, as a person means a path, or through none.
struct PathWalk: Sendable {
  /// Whether symbolic links of the folders on the way are followed.
  ///
  /// In a path whose links were all followed once, one that turns up later was put there to lead elsewhere.
  var followsLinks = true

  /// Calls the system with an open folder and a name in it.
  ///
  /// Without links each folder on the way is opened in the one before it, so that nothing that is swapped in meanwhile is entered.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - operation: What the caller does, for errors.
  ///   - body: Calls the system, and returns its answer.
  /// - Returns: The answer, and the system's error number right after the call.
  /// - Throws: `FileError` when a folder on the way can't be entered, or the path can be none.
  func call(
    _ path: String, for operation: FileError.Operation, _ body: (Int32, UnsafePointer<CChar>) -> Int32
  ) throws(FileError) -> (value: Int32, code: Int32) {
    try FileDescriptor.checkPath(path, for: operation)
    let bytes = PathText.bytes(of: path)
    let answer = withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
      buffer[bytes.count] = 0
      return call(buffer, length: bytes.count, body)
    }
    guard answer.isThere else {
      throw FileError(
        operation, path, code: answer.code,
        reason: answer.code == ENOTDIR || answer.code == ELOOP ? Self.blockedWay : nil)
    }
    return (answer.value, answer.code)
  }

  private static let blockedWay = "a folder on the way is a symbolic link, or no folder"

  /// What came of a call.
  private struct Answer {
    /// Whether the last folder was reached.
    var isThere = true
    var value: Int32 = -1
    var code: Int32 = 0
  }

  private func call(
    _ path: UnsafeMutableBufferPointer<CChar>, length: Int, _ body: (Int32, UnsafePointer<CChar>) -> Int32
  ) -> Answer {
    guard let base = path.baseAddress else { return Answer(isThere: false, code: EINVAL) }
    let slash = CChar(bitPattern: UInt8(ascii: "/"))
    var answer = Answer()
    guard !followsLinks, path[0] == slash, let end = path[..<length].lastIndex(of: slash), end < length - 1 else {
      answer.value = body(AT_FDCWD, base)
      answer.code = errno
      return answer
    }
    #if canImport(Darwin)
      // One call does it there, and the folders further up need not be open to an app.
      path[end] = 0
      let folder = end == 0 ? open("/", Self.flags) : open(base, Self.flags | O_NOFOLLOW_ANY)
      let code = errno
      path[end] = slash
      guard folder >= 0 else { return Answer(isThere: false, code: code) }
    #else
      var folder = open("/", Self.flags)
      var start = 1
      while folder >= 0, start <= end {
        let next = path[start...end].firstIndex(of: slash) ?? end
        if next > start {
          path[next] = 0
          let inner = openat(folder, base + start, Self.flags)
          let code = errno
          path[next] = slash
          _ = close(folder)
          errno = code
          folder = inner
        }
        start = next + 1
      }
      guard folder >= 0 else { return Answer(isThere: false, code: errno) }
    #endif
    answer.value = body(folder, base + end + 1)
    answer.code = errno
    _ = close(folder)
    return answer
  }

  /// Opens a folder that need only be passed through.
  private static var flags: Int32 {
    #if canImport(Darwin)
      O_SEARCH | O_CLOEXEC
    #else
      // O_PATH, which Swift doesn't import.
      0o10_000_000 | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    #endif
  }
}
