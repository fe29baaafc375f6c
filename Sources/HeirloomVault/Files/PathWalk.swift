#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  internal import CHeirloomFiles
  import Musl
#else
  internal import CHeirloomFiles
  import Glibc
#endif

/// Looks up paths, following symbolic links or refusing them.
package struct PathWalk: Sendable {
  /// A link that appears in a path after it was resolved was put there to redirect it.
  let followsLinks: Bool

  package init(followsLinks: Bool = true) {
    self.followsLinks = followsLinks
  }

  /// If links are refused, the name is looked up in its opened folder: a folder that is swapped in
  /// meanwhile is not entered.
  ///
  /// Returns the result and `errno`; throws if a folder of the path can't be entered.
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

  private static let blockedWay = "a folder in the path is a symbolic link, or not a folder"

  private struct Answer {
    /// False if the folder of the name could not be opened.
    var isThere = true
    var value: Int32 = -1
    var code: Int32 = 0
  }

  private func call(
    _ path: UnsafeMutableBufferPointer<CChar>, length: Int, _ body: (Int32, UnsafePointer<CChar>) -> Int32
  ) -> Answer {
    guard let base = path.baseAddress else { return Answer(isThere: false, code: EINVAL) }
    var answer = Answer()
    guard !followsLinks, path[0] == Self.slash,
      let end = path[..<length].lastIndex(of: Self.slash), end < length - 1
    else {
      answer.value = body(AT_FDCWD, base)
      answer.code = errno
      return answer
    }
    // The folder of a name in the root is the root.
    let cut = max(end, 1)
    let next = path[cut]
    path[cut] = 0
    let folder = Self.openFolder(base)
    let code = errno
    path[cut] = next
    guard folder >= 0 else { return Answer(isThere: false, code: code) }
    answer.value = body(folder, base + end + 1)
    answer.code = errno
    _ = close(folder)
    return answer
  }

  private static func openFolder(_ path: UnsafeMutablePointer<CChar>) -> Int32 {
    #if canImport(Darwin)
      // O_SEARCH: an app may not be able to read the folders further up.
      let folder = open(path, O_SEARCH | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW_ANY)
      guard folder < 0, errno == ENAMETOOLONG else { return folder }
    #else
      let folder = heirloom_open_folder(path, UInt64(flags))
      guard folder < 0, [ENOSYS, EPERM, ENAMETOOLONG].contains(errno) else { return folder }
    #endif
    return walk(to: path)
  }

  /// For systems that can't open a folder without links in one call, and for paths longer than they
  /// take.
  ///
  /// A folder that is swapped in meanwhile is not entered.
  private static func walk(to path: UnsafeMutablePointer<CChar>) -> Int32 {
    var names = path
    var folder = open("/", flags)
    while folder >= 0 {
      while names.pointee == slash { names += 1 }
      guard names.pointee != 0 else { break }
      var end = names
      while end.pointee != slash, end.pointee != 0 { end += 1 }
      let last = end.pointee
      end.pointee = 0
      let inner = openat(folder, names, flags)
      let code = errno
      end.pointee = last
      _ = close(folder)
      errno = code
      folder = inner
      names = end
    }
    return folder
  }

  #if canImport(Darwin)
    private static let flags = O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
  #else
    // O_PATH, which Swift doesn't import.
    private static let flags: Int32 = 0o10_000_000 | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
  #endif

  private static let slash = CChar(bitPattern: UInt8(ascii: "/"))
}
