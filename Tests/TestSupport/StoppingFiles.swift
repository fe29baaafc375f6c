import HeirloomStore
package import HeirloomVault

/// The file system up to a number of calls; after that each fails, as if the process had died.
package final class StoppingFiles: ForwardingFiles {
  package let base: any FileOperations = POSIXFileOperations(followsLinks: false)
  private let left: Locked<Int>

  /// Files whose path ends so can't be copied, as if the disk couldn't read them.
  private let unreadable: String?

  package init(after count: Int = .max, unreadable: String? = nil) {
    left = Locked(count)
    self.unreadable = unreadable
  }

  package func willCall(_ operation: FileError.Operation, _ path: String, _ other: String?) throws(FileError) {
    let isOver = left.withLock { left in
      left -= 1
      return left < 0
    }
    if isOver { throw FileError(.write, path, code: 5) }
    if operation == .copy, let unreadable, path.hasSuffix(unreadable) { throw FileError(.copy, path, code: 5) }
  }
}
