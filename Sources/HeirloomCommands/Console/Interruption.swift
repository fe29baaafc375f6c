import Foundation
import Synchronization

/// Tells a run of the tool that the user wants it to stop.
package final class Interruption: Sendable {
  private struct State {
    var isInterrupted = false
    var actions: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  /// Creates one that was not interrupted.
  package init() {}

  /// Whether the user wants to stop.
  package var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// Stops what is under way.
  ///
  /// - Returns: Whether it is the first time.
  @discardableResult
  package func interrupt() -> Bool {
    let (isFirst, actions) = state.withLock { state in
      defer { state.isInterrupted = true }
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

/// Listens to the signals by which a user or a system stops a program.
package final class SignalListener {
  private var sources: [any DispatchSourceSignal] = []

  /// Starts listening.
  ///
  /// The first signal cancels what is under way, which leaves the store as it was. The second ends the process at once: that
  /// is safe too, and the next run tidies up.
  ///
  /// - Parameter interruption: Interrupted by a signal.
  package init(interruption: Interruption) {
    // Without this a reader of the output that went away would end a migration.
    signal(SIGPIPE, SIG_IGN)
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        if !interruption.interrupt() { _exit(ExitCode.cancelled.rawValue) }
      }
      source.resume()
      sources.append(source)
    }
  }
}
