import Dispatch
import HeirloomStore

/// A large file that was just written keeps the disk busy for as long as a proof reads it: both can
/// run at once.
final class EarlySync: Sendable {
  private let files: POSIXFileOperations
  private let group = DispatchGroup()
  private let failure = Locked<FileError?>(nil)
  /// The path, when no thread could be started; `wait()` syncs it then.
  private let waiting = Locked<String?>(nil)

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

  /// The system may report a lost write only once, so a later sync might not report it.
  func wait() throws(FileError) {
    group.wait()
    if let path = waiting.withLock({ $0.take() }) { return try files.synchronizeFile(path) }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
