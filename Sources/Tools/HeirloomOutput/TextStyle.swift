package struct TextStyle: Sendable {
  package let isColored: Bool

  package init(isColored: Bool) {
    self.isColored = isColored
  }

  package func bold(_ text: String) -> String { set(text, "1") }
  package func faint(_ text: String) -> String { set(text, "2") }
  /// For a loss or a fault.
  package func red(_ text: String) -> String { set(text, "31") }
  /// For success.
  package func green(_ text: String) -> String { set(text, "32") }
  /// For a warning.
  package func yellow(_ text: String) -> String { set(text, "33") }

  private func set(_ text: String, _ code: String) -> String {
    isColored && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
