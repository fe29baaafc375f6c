import Foundation

/// A line on a terminal that shows how far a migration is.
final class ProgressBar {
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "heirloom.progress")
  private let console: Console

  /// Starts to show a progress; `nil` if standard error is no terminal.
  init?(_ progress: Progress, console: Console) {
    guard console.isErrorTerminal else { return nil }
    self.console = console
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + .milliseconds(200), repeating: .milliseconds(100))
    timer.setEventHandler {
      let text = Self.line(completed: progress.completedUnitCount, total: progress.totalUnitCount)
      console.writeError("\r\u{1B}[K" + text)
    }
    timer.resume()
  }

  /// Takes the line away.
  func finish() {
    timer.cancel()
    // After this no event handler runs any more.
    queue.sync { console.writeError("\r\u{1B}[K") }
  }

  /// The line: a bar of 24 places, the rows, the share.
  static func line(completed: Int64, total: Int64) -> String {
    guard total > 0 else { return "looking at the store …" }
    guard completed < total else { return "\(counted(total, "row")) are written, checking them …" }
    let share = min(1, max(0, Double(completed) / Double(total)))
    let filled = Int(share * 24)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 24 - filled)
    return "\(bar) \(grouped(completed)) of \(counted(total, "row")), \(Int(share * 100)) %"
  }
}
