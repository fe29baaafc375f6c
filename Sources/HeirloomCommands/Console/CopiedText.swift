/// The words of a line that stay together: a path with spaces, a command to copy, a number with its unit.
enum CopiedText {
  /// Returns the length of such words at the start of a text; 0 for any other text.
  ///
  /// - Parameters:
  ///   - text: The rest of a line, from the start of a word.
  ///   - paths: Paths with spaces that the line may have.
  /// - Returns: The number of characters, which may end within a word.
  static func length(atStartOf text: Substring, paths: [String]) -> Int {
    var rest = text
    // A style, a bracket or a quotation mark may be in front.
    while let first = rest.first, "\u{1B}(\"".contains(first) {
      rest = first == "\u{1B}" ? rest.drop { $0 != "m" }.dropFirst() : rest.dropFirst()
    }
    if let path = paths.first(where: rest.hasPrefix) { return text.count - rest.count + path.count }
    var words = Words(rest: rest)
    let first = words.next() ?? ""
    // The rest of the line is a command of the shell.
    if first == "mkdir" || first == "mv", words.peek.map(isNoProse) == true { return text.count }
    if first.hasPrefix("'/") || first.hasPrefix("$'/") { return text.count - words.rest.count }
    if first.last?.isNumber == true, ["kB", "MB", "GB", "s"].contains(words.peek?.prefix { $0.isLetter }) {
      _ = words.next()
      return text.count - words.rest.count
    }
    if first.hasPrefix("--") {
      if words.peek?.contains("=") == true { _ = words.next() }
      return text.count - words.rest.count
    }
    guard first == "heirloom", let command = words.next(),
      let options = command == "help" ? [] : Command.all.first(where: { $0.name == command })?.options
    else { return 0 }
    var end = words.rest
    var takesValue = command == "help"
    while let word = words.next() {
      let isOption = word.hasPrefix("--")
      guard takesValue || isOption || isNoProse(word) else { break }
      end = words.rest
      if ".,;:)".contains(word.last ?? " ") { break }
      takesValue = isOption && options.first { $0.name == word }?.value != nil
    }
    return text.count - end.count
  }

  /// Returns true for a path, a word in quotes and a placeholder in capitals.
  private static func isNoProse(_ word: Substring) -> Bool {
    word.contains("/") || word.hasPrefix("'") || word.hasPrefix("$'") || word.dropLast().contains(".")
      || word.allSatisfy { $0.isUppercase || $0.isPunctuation }
  }

  /// The words of a command line, one after the other; quotation marks keep spaces in a word.
  private struct Words {
    var rest: Substring

    /// The next word, which stays the next one.
    var peek: Substring? {
      var words = self
      return words.next()
    }

    mutating func next() -> Substring? {
      let start = rest.drop { $0 == " " }
      guard !start.isEmpty, start.count >= rest.count - 1 else { return nil }
      var isQuoted = false
      let word = start.prefix { character in
        if character == "'" { isQuoted.toggle() }
        return character != " " || isQuoted
      }
      rest = start.dropFirst(word.count)
      return word
    }
  }
}
