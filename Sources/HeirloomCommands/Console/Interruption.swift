import Foundation
import Heirloom
import HeirloomStore

/// The user's wish to stop a run of the tool.
package final class Interruption: Sendable {
  private struct State {
    var isInterrupted = false
    var actions: [Int: @Sendable () -> Void] = [:]
    var next = 0
    var leave: (@Sendable () -> Void)?
  }

  private let state = Locked(State())
  private let endProcess: (@Sendable (Int32) -> Void)?

  /// Creates an interruption that has not happened.
  ///
  /// - Parameter endProcess: Ends the process where nothing has to be tidied up; `nil` if it has to go on to its end.
  package init(endProcess: (@Sendable (Int32) -> Void)? = nil) {
    self.endProcess = endProcess
  }

  /// True when the user wants to stop.
  package var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// Stops the work under way.
  ///
  /// - Returns: True the first time.
  @discardableResult
  package func interrupt() -> Bool {
    let (isFirst, actions) = state.withLock { state in
      defer { state.isInterrupted = true }
      // Under the lock, so that the work under way can't end, and say so, meanwhile.
      state.leave?()
      return (!state.isInterrupted, Array(state.actions.values))
    }
    for action in actions { action() }
    return isFirst
  }

  /// Runs a body that an interruption cancels.
  ///
  /// - Parameters:
  ///   - progress: The progress that an interruption cancels.
  ///   - body: The work.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body.
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
  /// Lets an interruption end the process at once from now on, until `stay()` is called.
  ///
  /// It is for work that only reads, and for work that has not begun to change anything.
  ///
  /// - Parameter farewell: Says that the work was stopped; it is called once at most, on any thread.
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

  /// Leaves interruptions to the work under way from now on.
  func stay() {
    state.withLock { $0.leave = nil }
  }
}

/// A listener for the signals by which a user or a system stops a program.
package enum SignalListener {
  /// Starts listening.
  ///
  /// The first signal cancels the work under way, which leaves the store as it was.
  /// The second ends the process at once. That is safe too, and the next run tidies up.
  ///
  /// - Parameter interruption: The interruption that a signal causes.
  package static func start(interruption: Interruption) {
    // Threads that start from now on leave the signals to the one that waits for them.
    var signals = Self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let isListening = WorkerThread.start(stackSize: 1 << 20) {
      var (signals, number) = (Self.signals, Int32(0))
      while sigwait(&signals, &number) == 0 {
        guard !interruption.interrupt() else { continue }
        // The shell's prompt must not stand behind the progress line.
        if isatty(STDERR_FILENO) == 1 { _ = write(STDERR_FILENO, "\n", 1) }
        _exit(ExitCode.cancelled.rawValue)
      }
    }
    // Where nobody listens, a signal ends the process at once, and the next run repairs that.
    if !isListening { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
    return signals
  }
}
