import Heirloom

/// Untrusted text, made safe to print.
package enum TerminalText {
  /// Returns text whose only control character is the line feed; other control characters are escaped, in JSON's form
  /// if `isJSON` is true.
  package static func harmless(_ text: String, isJSON: Bool = false) -> String {
    let text = PlainText.escaped(text, breaksLines: true, isJSON: isJSON)
    return isJSON && text.contains("##[") ? text.replacing("##[", with: "#\\u0023[") : text
  }

  /// Returns text as one line of bounded length that neither a terminal nor GitHub Actions interprets.
  ///
  /// The sequences of ``TextStyle`` are kept if `keepsStyle` is true.
  package static func line(_ text: String, keepsStyle: Bool = false) -> String {
    let line = PlainText.escaped(PlainText.cut(text, to: PlainText.limit), breaksLines: false) { rest in
      keepsStyle ? TextStyle.sequences.first { rest.starts(with: $0) }?.count ?? 0 : 0
    }
    return commandsWorkflow(line)
      ? line.replacing("##[", with: "#\\u{23}[").replacing("::", with: ":\\u{3a}", maxReplacements: 1) : line
  }

  /// True if GitHub Actions would interpret a log line as a command.
  ///
  /// It skips spaces before the colons, and finds the older form anywhere.
  private static func commandsWorkflow(_ line: String) -> Bool {
    line.drop { $0 == " " }.hasPrefix("::") || line.contains("##[")
  }
}

extension TextStyle {
  /// The sequences that ``TextStyle`` writes.
  fileprivate static let sequences: [String.UnicodeScalarView] = ["0", "1", "2", "31", "32", "33"].map {
    "\u{1B}[\($0)m".unicodeScalars
  }
}
