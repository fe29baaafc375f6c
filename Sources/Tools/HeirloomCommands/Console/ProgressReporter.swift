package import Foundation
import Heirloom
import HeirloomOutput
import HeirloomStore

/// A terminal shows one line that changes; if standard error isn't a terminal, it gets a plain line
/// for each phase.
package final class ProgressReporter: Sendable {
  package enum Form: Sendable {
    /// No report, because the output is JSON.
    case silent
    case lines
    case bar(columns: @Sendable () -> Int)
  }

  /// Work below it is too short to show progress for.
  package static let threshold: Duration = .milliseconds(300)

  private struct State {
    var begin: ContinuousClock.Instant?
    var phase = ""
    var phaseBegin: ContinuousClock.Instant?
    var counts: Progress?
    var countingBegin: ContinuousClock.Instant?
    var printedPhase: String?
    var isTicking = false
    var isFinished = false
  }

  private let form: Form
  private let status: StatusLine
  private let interruption: Interruption
  private let now: @Sendable () -> ContinuousClock.Instant
  private let ticks: Bool
  private let state = Locked(State())

  /// Without `ticks`, the progress is checked only in ``tick()``.
  package init(
    form: Form, status: StatusLine, interruption: Interruption = Interruption(), ticks: Bool = true,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.form = form
    self.status = status
    self.interruption = interruption
    self.ticks = ticks
    self.now = now
  }

  /// `counts` counts this phase and others; `nil` if nothing is counted.
  package func begin(_ phase: String, counting counts: Progress? = nil) {
    if case .silent = form { return }
    state.withLock { state in
      guard !state.isFinished else { return }
      let time = now()
      if state.begin == nil { state.begin = time }
      if state.phase != phase { state.phaseBegin = time }
      if counts != nil, state.countingBegin == nil { state.countingBegin = time }
      state.phase = phase
      state.counts = counts
      guard ticks, !state.isTicking else { return }
      state.isTicking = true
      // Without a thread, nothing is reported until the end.
      _ = WorkerThread.start(stackSize: 1 << 19) { [weak self] in
        usleep(320_000)
        while let reporter = self, !reporter.state.withLock({ $0.isFinished }) {
          reporter.tick()
          usleep(100_000)
        }
      }
    }
  }

  package func tick() {
    state.withLock { state in
      let time = now()
      guard !state.isFinished, let begin = state.begin, begin.duration(to: time) >= Self.threshold else { return }
      let isStopping = interruption.isInterrupted
      let phase = isStopping ? "Stopping (Ctrl-C once more ends at once)" : state.phase
      switch form {
      case .silent: break
      case .lines:
        guard state.printedPhase != phase else { return }
        state.printedPhase = phase
        status.writeLine(phase + " …")
      case .bar(let columns):
        var text = ProgressText(phase: phase)
        var begin = state.phaseBegin
        if let counts = state.counts, !isStopping, counts.totalUnitCount > 0 {
          text.share = counts.fractionCompleted
          begin = state.countingBegin
        }
        if let begin { text.seconds = begin.duration(to: time) / .seconds(1) }
        status.show(TerminalText.harmless(text.line(columns: columns())))
      }
    }
  }

  /// Later calls report nothing.
  package func finish() {
    state.withLock { state in
      state.isFinished = true
      status.show("")
    }
  }
}
