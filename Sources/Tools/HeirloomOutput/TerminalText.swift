import Heirloom

/// Untrusted text, made safe to print.
package enum TerminalText {
  /// Leaves the line feed as the only control character; escapes others, as in JSON if `isJSON`.
  package static func harmless(_ text: String, isJSON: Bool = false) -> String {
    let text = PlainText.escaped(text, breaksLines: true, isJSON: isJSON)
    return isJSON && text.contains("##[") ? text.replacing("##[", with: "#\\u0023[") : text
  }

  /// One line of bounded length that neither a terminal nor GitHub Actions interprets.
  ///
  /// `keepsStyle` keeps the sequences of ``TextStyle``.
  package static func line(_ text: String, keepsStyle: Bool = false) -> String {
    let line = PlainText.escaped(PlainText.cut(text, to: PlainText.limit), breaksLines: false) { rest in
      keepsStyle ? TextStyle.sequences.first { rest.starts(with: $0) }?.count ?? 0 : 0
    }
    return commandsWorkflow(line)
      ? line.replacing("##[", with: "#\\u{23}[").replacing("::", with: ":\\u{3a}", maxReplacements: 1) : line
  }

  /// GitHub Actions skips spaces before the colons, and finds the older form anywhere.
  private static func commandsWorkflow(_ line: String) -> Bool {
    line.drop { $0 == " " }.hasPrefix("::") || line.contains("##[")
  }
}

extension TextStyle {
  /// Those that ``TextStyle`` writes.
  fileprivate static let sequences: [String.UnicodeScalarView] = ["0", "1", "2", "31", "32", "33"].map {
    "\u{1B}[\($0)m".unicodeScalars
  }
}
