/// The styles of text on a terminal; none where it is plain.
package struct TextStyle: Sendable {
  /// Whether there are colours.
  package let isColored: Bool

  /// Creates styles.
  package init(isColored: Bool) {
    self.isColored = isColored
  }

  /// Text of importance.
  package func bold(_ text: String) -> String { set(text, "1") }
  /// Text of less importance.
  package func faint(_ text: String) -> String { set(text, "2") }
  /// Text about something lost or wrong.
  package func red(_ text: String) -> String { set(text, "31") }
  /// Text about something done.
  package func green(_ text: String) -> String { set(text, "32") }
  /// Text about something to watch.
  package func yellow(_ text: String) -> String { set(text, "33") }

  private func set(_ text: String, _ code: String) -> String {
    isColored && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
