import Dispatch
import HeirloomStore
import Synchronization

/// Brings a file's content to the disk on another thread.
///
/// A file that is large and was just written keeps the disk busy for as long as a proof reads it: both can be done at once.
final class EarlySync: Sendable {
  private let files: POSIXFileOperations
  private let group = DispatchGroup()
  private let failure = Mutex<FileError?>(nil)
  /// The file, where there was no thread to begin on.
  private let waiting = Mutex<String?>(nil)

  /// Begins.
  init(of path: String, by files: POSIXFileOperations) {
    self.files = files
    group.enter()
    let isStarted = WorkerThread.start(stackSize: 1 << 19) { [self] in
      do throws(FileError) {
        try files.synchronizeFile(path)
      } catch {
        failure.withLock { $0 = error }
      }
      group.leave()
    }
    guard !isStarted else { return }
    group.leave()
    waiting.withLock { $0 = path }
  }

  /// Waits for the end, after which the file is closed.
  ///
  /// - Throws: `FileError` if the content is not on the disk. The system may tell of a lost write once only, so that a later sync would
  ///   not know.
  func wait() throws(FileError) {
    group.wait()
    if let path = waiting.withLock({ $0.take() }) { return try files.synchronizeFile(path) }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
