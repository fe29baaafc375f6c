/// The facts of a file that both readers have to find, each as a line of text.
struct Facts {
  private(set) var lines: Set<String> = []
  /// The numbers of facts by their kind.
  private(set) var counts: [String: Int] = [:]

  /// Adds a fact: where it stands, what it is, and its marks.
  ///
  /// - Parameters:
  ///   - kind: The kind, in the plural.
  ///   - line: The line in the file.
  ///   - name: The names from the outermost type on.
  ///   - details: What is known of it, by name; without those that are empty.
  mutating func add(_ kind: String, line: Int, _ name: [String], _ details: KeyValuePairs<String, String> = [:]) {
    counts[kind, default: 0] += 1
    let known = details.filter { !$0.value.isEmpty }.map { " \($0.key) \($0.value)" }
    lines.insert("\(kind) \(line) \(name.joined(separator: "."))" + known.joined())
  }

  /// Returns a text without blanks, which say nothing between tokens.
  static func bare(_ text: String) -> String { text.filter { !$0.isWhitespace } }

  /// Returns a mark, or nothing.
  static func mark(_ isSet: Bool) -> String { isSet ? "yes" : "" }
}
