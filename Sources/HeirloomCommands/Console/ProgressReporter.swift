package import Foundation
import Heirloom
import HeirloomOutput
import Synchronization

/// Tells a person what is under way, as soon as that takes longer than a moment.
///
/// A terminal sees one line that changes; anything else that reads standard error gets a plain line for each phase.
package final class ProgressReporter: Sendable {
  /// How it is told.
  package enum Form: Sendable {
    /// Not at all: a program reads the output.
    case silent
    /// One plain line a phase.
    case lines
    /// A line that changes, on a terminal of so many columns at the moment.
    case bar(columns: @Sendable () -> Int)
  }

  /// What takes less is over before anybody wonders.
  package static let threshold: Duration = .milliseconds(300)

  private struct State {
    var begin: ContinuousClock.Instant?
    var phase = ""
    var phaseBegin: ContinuousClock.Instant?
    var counts: Progress?
    var printedPhase: String?
    var isTicking = false
    var isFinished = false
  }

  private let form: Form
  private let status: StatusLine
  private let interruption: Interruption
  private let now: @Sendable () -> ContinuousClock.Instant
  private let ticks: Bool
  private let state = Mutex(State())

  /// Creates a reporter of one run of the tool.
  ///
  /// - Parameters:
  ///   - form: How it is told.
  ///   - status: Where it is told.
  ///   - interruption: Tells that the user wants to stop, which is told as well.
  ///   - ticks: Whether it looks from time to time by itself; else only ``tick()`` looks.
  ///   - now: Returns the time.
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

  /// Begins a phase, which ends the one before.
  ///
  /// - Parameters:
  ///   - phase: What is being done, such as `Writing`.
  ///   - counts: Tells the rows; `nil` where nothing is counted.
  package func begin(_ phase: String, counting counts: Progress? = nil) {
    if case .silent = form { return }
    state.withLock { state in
      guard !state.isFinished else { return }
      let time = now()
      if state.begin == nil { state.begin = time }
      if state.phase != phase { state.phaseBegin = time }
      state.phase = phase
      state.counts = counts
      guard ticks, !state.isTicking else { return }
      state.isTicking = true
      // Without a thread nothing is told until the end.
      _ = WorkerThread.start(stackSize: 1 << 19) { [weak self] in
        usleep(320_000)
        while let reporter = self, !reporter.state.withLock({ $0.isFinished }) {
          reporter.tick()
          usleep(100_000)
        }
      }
    }
  }

  /// Looks how far it is and tells it.
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
        if let begin = state.phaseBegin { text.seconds = begin.duration(to: time) / .seconds(1) }
        if let counts = state.counts, !isStopping {
          (text.completed, text.total) = (counts.completedUnitCount, counts.totalUnitCount)
        }
        status.show(TerminalText.harmless(text.line(columns: columns())))
      }
    }
  }

  /// Ends the last phase and takes the line away; nothing is told any more.
  package func finish() {
    state.withLock { state in
      state.isFinished = true
      status.show("")
    }
  }
}
