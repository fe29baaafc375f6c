import Foundation
import Heirloom
import HeirloomStore

/// The user's request to cancel a run of the tool.
package final class Interruption: Sendable {
  private struct State {
    var isInterrupted = false
    var actions: [Int: @Sendable () -> Void] = [:]
    var next = 0
    var leave: (@Sendable () -> Void)?
  }

  private let state = Locked(State())
  private let endProcess: (@Sendable (Int32) -> Void)?

  /// `endProcess` ends the process if nothing needs clean-up; `nil` if the process must go on.
  package init(endProcess: (@Sendable (Int32) -> Void)? = nil) {
    self.endProcess = endProcess
  }

  package var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// Cancels the work under way; returns true the first time.
  @discardableResult
  package func interrupt() -> Bool {
    let (isFirst, actions) = state.withLock { state in
      defer { state.isInterrupted = true }
      // Called under the lock, because the work must not finish, and report success, meanwhile.
      state.leave?()
      return (!state.isInterrupted, Array(state.actions.values))
    }
    for action in actions { action() }
    return isFirst
  }

  /// An interruption during `body` cancels `progress`.
  func cancelling<Value>(_ progress: Progress, _ body: () throws -> Value) rethrows -> Value {
    let key = state.withLock { state in
      state.next += 1
      state.actions[state.next] = { progress.cancel() }
      return state.next
    }
    defer { state.withLock { _ = $0.actions.removeValue(forKey: key) } }
    if isInterrupted { progress.cancel() }
    return try body()
  }
}

extension Interruption {
  /// An interruption ends the process at once, until `stay()` is called.
  ///
  /// For work that only reads, and for work that hasn't changed anything yet. `farewell` reports
  /// the cancellation; it is called at most once, on any thread.
  func mayLeave(_ farewell: @escaping @Sendable () -> Void) {
    guard let endProcess else { return }
    state.withLock { state in
      state.leave = {
        farewell()
        endProcess(ExitCode.cancelled.rawValue)
      }
      if state.isInterrupted { state.leave?() }
    }
  }

  /// Interruptions cancel the work again instead of ending the process.
  func stay() {
    state.withLock { $0.leave = nil }
  }
}

package enum SignalListener {
  /// The first signal cancels the work under way, which leaves the store unchanged.
  ///
  /// The second ends the process at once, which is safe too: the next run cleans up.
  package static func start(interruption: Interruption) {
    // Threads that start from now on block the signals, so only the waiting thread receives them.
    var signals = Self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let isListening = WorkerThread.start(stackSize: 1 << 20) {
      var (signals, number) = (Self.signals, Int32(0))
      while sigwait(&signals, &number) == 0 {
        guard !interruption.interrupt() else { continue }
        // The shell's prompt must not continue the progress line.
        if isatty(STDERR_FILENO) == 1 { _ = write(STDERR_FILENO, "\n", 1) }
        _exit(ExitCode.cancelled.rawValue)
      }
    }
    // Without a listener a signal ends the process at once, and the next run recovers.
    if !isListening { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
    return signals
  }
}
