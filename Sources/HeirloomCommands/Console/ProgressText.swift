import HeirloomOutput

/// The text for a person about something under way, at one moment.
package struct ProgressText: Hashable, Sendable {
  /// The name of the work, such as `Writing`.
  package var phase: String
  /// The share of the work that is done, from 0 to 1; `nil` where it is not known.
  package var share: Double?
  /// The time since the work that is counted began, or else the phase, in seconds.
  package var seconds: Double = 0

  /// Creates a text.
  package init(phase: String, share: Double? = nil, seconds: Double = 0) {
    self.phase = phase
    self.share = share
    self.seconds = seconds
  }

  /// Returns the text for a terminal, as far as its parts are known and there is room.
  ///
  /// The parts are the bar, the share and the time that is left.
  ///
  /// - Parameter columns: The terminal's columns; one stays free, since a full line would wrap on some terminals.
  /// - Returns: One line.
  package func line(columns: Int) -> String {
    let room = max(1, columns - 1)
    let choices = (share.map(parts) ?? [[phase + " …", elapsed], [phase + " …"]]).map { parts in
      parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }
    return TextLayout.cut(choices.first { TextLayout.width(of: $0) <= room } ?? choices.last ?? "", to: room)
  }

  /// Returns the parts of the possible lines, the most detailed first.
  private func parts(share: Double) -> [[String]] {
    let share = min(1, max(0, share))
    // Tenths move where a hundredth of the work takes seconds.
    let tenths = Int32(share * 1000)
    let percent = "\(tenths / 10).\(tenths % 10) %"
    // A share of 0 says nothing yet, and neither does the first half of a second.
    let isTelling = share > 0 && share < 1 && seconds >= 0.5
    let left = isTelling ? Self.clock(seconds / share * (1 - share)) + " left" : elapsed
    return [
      [phase, Self.bar(share, places: 24), percent, left], [phase, Self.bar(share, places: 12), percent, left],
      [phase, percent, left], [phase, percent],
    ]
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
