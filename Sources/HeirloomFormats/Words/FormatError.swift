import HeirloomModel

package struct FormatError: Error, Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    case whole
    /// From 0.
    case byte(Int)
    /// From 1.
    case line(Int)
  }

  package let place: Place
  /// One sentence, which names the byte but not the line.
  package let reason: String

  package init(_ place: Place, _ reason: String) {
    self.place = place
    self.reason = reason
  }

  package init(_ reason: String) {
    self.init(.whole, reason)
  }

  package var line: Int? {
    guard case .line(let line) = place else { return nil }
    return line
  }
}

extension FormatError: CustomStringConvertible {
  package var description: String { PlainText.line((line.map { "Line \($0): " } ?? "") + reason) }
}
