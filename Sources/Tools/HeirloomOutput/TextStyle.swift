/// The styles of terminal text; plain text has none.
package struct TextStyle: Sendable {
  /// True for styled text, false for plain text.
  package let isColored: Bool

  /// Creates styles.
  package init(isColored: Bool) {
    self.isColored = isColored
  }

  /// Returns emphasized text.
  package func bold(_ text: String) -> String { set(text, "1") }
  /// Returns de-emphasized text.
  package func faint(_ text: String) -> String { set(text, "2") }
  /// Returns text in the style for a loss or a fault.
  package func red(_ text: String) -> String { set(text, "31") }
  /// Returns text in the style for success.
  package func green(_ text: String) -> String { set(text, "32") }
  /// Returns text in the style for a warning.
  package func yellow(_ text: String) -> String { set(text, "33") }

  private func set(_ text: String, _ code: String) -> String {
    isColored && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
