/// Parts of a line that must not be broken: a path with spaces, a command to copy, a number with
/// its unit.
enum CopiedText {
  /// The number of characters at the start of `text` that stay together, which may end within a
  /// word; 0 if none do.
  static func length(atStartOf text: Substring, paths: [String]) -> Int {
    var rest = text
    // A style, a bracket or a quotation mark may precede it.
    while let first = rest.first, "\u{1B}(\"".contains(first) {
      rest = first == "\u{1B}" ? rest.drop { $0 != "m" }.dropFirst() : rest.dropFirst()
    }
    if let path = paths.first(where: rest.hasPrefix) { return text.count - rest.count + path.count }
    var words = Words(rest: rest)
    let first = words.next() ?? ""
    // The rest of the line is a shell command.
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

  /// True for a path, a quoted word and a placeholder in capitals.
  private static func isNoProse(_ word: Substring) -> Bool {
    word.contains("/") || word.hasPrefix("'") || word.hasPrefix("$'") || word.dropLast().contains(".")
      || word.allSatisfy { $0.isUppercase || $0.isPunctuation }
  }

  /// Spaces in quotation marks don't end a word.
  private struct Words {
    var rest: Substring

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
