import HeirloomOutput

package struct ProgressText: Hashable, Sendable {
  package var phase: String
  /// From 0 to 1; `nil` if unknown.
  package var share: Double?
  /// Since the counted work began, or since the phase began if nothing is counted.
  package var seconds: Double = 0

  package init(phase: String, share: Double? = nil, seconds: Double = 0) {
    self.phase = phase
    self.share = share
    self.seconds = seconds
  }

  /// One column stays free, because a full line wraps on some terminals.
  package func line(columns: Int) -> String {
    let room = max(1, columns - 1)
    let choices = (share.map(parts) ?? [[phase + " …", elapsed], [phase + " …"]]).map { parts in
      parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }
    return TextLayout.cut(choices.first { TextLayout.width(of: $0) <= room } ?? choices.last ?? "", to: room)
  }

  private func parts(share: Double) -> [[String]] {
    let share = min(1, max(0, share))
    // Tenths of a percent show movement in long work.
    let tenths = Int32(share * 1000)
    let percent = "\(tenths / 10).\(tenths % 10) %"
    // An estimate needs a share above 0 and half a second of work.
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

  /// Rounded to whole seconds, since it is an estimate.
  private static func clock(_ seconds: Double) -> String {
    seconds < 59.5 ? "\(Int32(max(1, seconds.rounded()))) s" : durationText(seconds)
  }
}
