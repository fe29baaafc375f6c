import HeirloomOutput

/// The text for a person about something under way, at one moment.
package struct ProgressText: Hashable, Sendable {
  /// The name of the work, such as `Writing`.
  package var phase: String
  /// The number of rows that are done; without meaning where the total is not known.
  package var completed: Int64 = 0
  /// The number of all rows; 0 where it is not known, and then no share is shown.
  package var total: Int64 = 0
  /// The time since the phase began, in seconds.
  package var seconds: Double = 0

  /// Creates a text.
  package init(phase: String, completed: Int64 = 0, total: Int64 = 0, seconds: Double = 0) {
    self.phase = phase
    self.completed = completed
    self.total = total
    self.seconds = seconds
  }

  /// Returns the text for a terminal, as far as its parts are known and there is room.
  ///
  /// The parts are the bar, the share, the rows, the rate and the time that is left.
  ///
  /// - Parameter columns: The terminal's columns; one stays free, since a full line would wrap on some terminals.
  /// - Returns: One line.
  package func line(columns: Int) -> String {
    let room = max(1, columns - 1)
    let choices = total > 1 ? linesWithCounts : [[phase + " …", elapsed], [phase + " …"]].map(joined)
    return TextLayout.cut(choices.first { TextLayout.width(of: $0) <= room } ?? choices.last ?? "", to: room)
  }

  /// The possible lines, the most detailed first.
  private var linesWithCounts: [String] {
    let share = min(1, max(0, Double(completed) / Double(total)))
    let percent = "\(Int32(share * 100)) %"
    let rows = "\(grouped(min(completed, total))) of \(counted(total, "row"))"
    // A share of 0 says nothing yet, and neither does the first half of a second.
    let rate = completed > 0 && seconds >= 0.5 ? Double(completed) / seconds : 0
    let speed = rate >= 1 && rate < 1e15 ? "\(grouped(Int64(rate))) rows/s" : ""
    let left = rate > 0 && completed < total ? Self.clock(Double(total - completed) / rate) + " left" : elapsed
    return [
      [phase, Self.bar(share, places: 24), percent, rows, speed, left],
      [phase, Self.bar(share, places: 12), percent, rows, left],
      [phase, percent, rows, left], [phase, percent, left], [phase, percent],
    ].map(joined)
  }

  private func joined(_ parts: [String]) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private var elapsed: String { seconds < 1 ? "" : Self.clock(seconds) }

  private static func bar(_ share: Double, places: Int) -> String {
    let filled = Int(Int32(share * Double(places)))
    return String(repeating: "█", count: filled) + String(repeating: "░", count: places - filled)
  }

  /// Returns a time in whole seconds: an estimate has no hundredths.
  private static func clock(_ seconds: Double) -> String {
    seconds < 59.5 ? "\(Int32(max(1, seconds.rounded()))) s" : durationText(seconds)
  }
}
