import HeirloomModel

/// A failure to read or write a file format: the place in the bytes, and what was found there and expected.
package struct FormatError: Error, Hashable, Sendable {
  /// A place in a document.
  package enum Place: Hashable, Sendable {
    /// The document as a whole.
    case whole
    /// A byte, counted from the start.
    case byte(Int)
    /// A line, counted from 1.
    case line(Int)
  }

  /// The place of the problem.
  package let place: Place
  /// One sentence, which names the byte but not the line.
  package let reason: String

  /// Creates an error from its parts.
  package init(_ place: Place, _ reason: String) {
    self.place = place
    self.reason = reason
  }

  /// Creates an error of a document as a whole.
  package init(_ reason: String) {
    self.init(.whole, reason)
  }

  /// The line of the problem; `nil` if it concerns the whole document, or the format has no lines.
  package var line: Int? {
    guard case .line(let line) = place else { return nil }
    return line
  }
}

extension FormatError: CustomStringConvertible {
  /// The line, if there is one, and the reason.
  package var description: String { PlainText.line((line.map { "Line \($0): " } ?? "") + reason) }
}
