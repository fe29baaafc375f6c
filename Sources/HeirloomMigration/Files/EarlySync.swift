import Dispatch
import Synchronization

/// Brings a file's content to the disk on another thread.
///
/// A file that is large and was just written keeps the disk busy for as long as a proof reads it: both can be done at once.
final class EarlySync: Sendable {
  private let group = DispatchGroup()
  private let failure = Mutex<FileError?>(nil)

  /// Begins.
  init(of path: String) {
    DispatchQueue.global().async(group: group) { [self] in
      do throws(FileError) {
        try POSIXFileOperations().synchronizeFile(path)
      } catch {
        failure.withLock { $0 = error }
      }
    }
  }

  /// Waits for the end, after which the file is closed.
  ///
  /// - Throws: `FileError` if the content is not on the disk. The system may tell of a lost write once only, so that a later sync would
  ///   not know.
  func wait() throws(FileError) {
    group.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
