import Heirloom

/// The safe form of text from anybody's files, for people.
package enum TerminalText {
  /// Returns a text of one or more lines, where the characters that a terminal would obey become their numbers.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - isJSON: True if the text is JSON, whose escapes have another form.
  /// - Returns: A text whose only control character is the line feed.
  package static func harmless(_ text: String, isJSON: Bool = false) -> String {
    let text = PlainText.escaped(text, breaksLines: true, isJSON: isJSON)
    return isJSON && text.contains("##[") ? text.replacing("##[", with: "#\\u0023[") : text
  }

  /// Returns a text as one line, so that no name starts a line, is endless, or commands a program that reads lines.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - keepsStyle: True to keep the sequences that ``TextStyle`` writes.
  /// - Returns: The line, without its end.
  package static func line(_ text: String, keepsStyle: Bool = false) -> String {
    let line = PlainText.escaped(PlainText.cut(text, to: PlainText.limit), breaksLines: false) { rest in
      keepsStyle ? TextStyle.sequences.first { rest.starts(with: $0) }?.count ?? 0 : 0
    }
    return commandsWorkflow(line)
      ? line.replacing("##[", with: "#\\u{23}[").replacing("::", with: ":\\u{3a}", maxReplacements: 1) : line
  }

  /// Returns true when GitHub Actions would take a line of a log for a command.
  ///
  /// GitHub Actions skips spaces before the colons, and finds the older form anywhere.
  private static func commandsWorkflow(_ line: String) -> Bool {
    line.drop { $0 == " " }.hasPrefix("::") || line.contains("##[")
  }
}

extension TextStyle {
  /// The sequences that the styles write.
  fileprivate static let sequences: [String.UnicodeScalarView] = ["0", "1", "2", "31", "32", "33"].map {
    "\u{1B}[\($0)m".unicodeScalars
  }
}
