import Foundation
import Heirloom
import Synchronization

/// Tells a run of the tool that the user wants it to stop.
package final class Interruption: Sendable {
  private struct State {
    var isInterrupted = false
    var actions: [Int: @Sendable () -> Void] = [:]
    var next = 0
    var leave: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let endProcess: (@Sendable (Int32) -> Void)?

  /// Creates one that was not interrupted.
  ///
  /// - Parameter endProcess: Ends the process where nothing has to be tidied up; `nil` if it has to go on to its end.
  package init(endProcess: (@Sendable (Int32) -> Void)? = nil) {
    self.endProcess = endProcess
  }

  /// Whether the user wants to stop.
  package var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// Stops what is under way.
  ///
  /// - Returns: Whether it is the first time.
  @discardableResult
  package func interrupt() -> Bool {
    let (isFirst, actions) = state.withLock { state in
      defer { state.isInterrupted = true }
      // Under the lock, so that what is under way can't end, and say so, meanwhile.
      state.leave?()
      return (!state.isInterrupted, Array(state.actions.values))
    }
    for action in actions { action() }
    return isFirst
  }

  /// Runs a body that an interruption cancels.
  ///
  /// - Parameters:
  ///   - progress: Cancelled by an interruption.
  ///   - body: What is done.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
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
  /// From now on an interruption ends the process at once, until ``stay()``.
  ///
  /// It is for what only reads, and for what has not begun to change anything.
  ///
  /// - Parameter farewell: Says that it was stopped; it is called once at most, on any thread.
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

  /// From now on an interruption is heard by what is under way.
  func stay() {
    state.withLock { $0.leave = nil }
  }
}

/// Listens to the signals by which a user or a system stops a program.
package enum SignalListener {
  /// Starts listening.
  ///
  /// The first signal cancels what is under way, which leaves the store as it was. The second ends the process at once: that
  /// is safe too, and the next run tidies up.
  ///
  /// - Parameter interruption: Interrupted by a signal.
  package static func start(interruption: Interruption) {
    // Threads that are started from now on leave the signals to the one that waits for them.
    var signals = Self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let isListening = WorkerThread.start(stackSize: 1 << 20) {
      var (signals, number) = (Self.signals, Int32(0))
      while sigwait(&signals, &number) == 0 {
        guard !interruption.interrupt() else { continue }
        // The shell's prompt must not stand behind what is under way.
        if isatty(STDERR_FILENO) == 1 { _ = write(STDERR_FILENO, "\n", 1) }
        _exit(ExitCode.cancelled.rawValue)
      }
    }
    // Where nobody listens a signal ends the process at once, which the next run sets right.
    if !isListening { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
    return signals
  }
}
