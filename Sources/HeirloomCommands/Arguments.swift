/// The words of a command line, sorted into what a command declares.
struct Arguments {
  /// What a command accepts.
  struct Grammar {
    /// What the positional words are called, in order, such as `STORE`.
    var positionals: [String] = []
    /// Whether the last positional may be repeated.
    var repeatsLast = false
    /// How many positionals must be there.
    var requiredCount = 0
    /// Options with a value, such as `--to`, and what the value is called.
    var options: [String: String] = [:]
    /// Options that may be given several times.
    var repeatable: Set<String> = []
    /// Options without a value.
    var flags: Set<String> = []
  }

  /// The positional words, in order.
  private(set) var positionals: [String] = []
  private var values: [String: [String]] = [:]
  private var givenFlags: Set<String> = []

  /// Sorts words.
  ///
  /// - Parameters:
  ///   - words: The words after the command's name.
  ///   - grammar: What the command accepts; `--json` and `--help` are always accepted.
  /// - Throws: ``UsageError`` for the first word that doesn't fit.
  init(_ words: [String], grammar: Grammar) throws(UsageError) {
    var remaining = words[...]
    var optionsEnded = false
    while let word = remaining.popFirst() {
      if optionsEnded || !word.hasPrefix("-") || word == "-" {
        positionals.append(word)
      } else if word == "--" {
        optionsEnded = true
      } else {
        try take(word, from: &remaining, grammar: grammar)
      }
    }
    if !grammar.repeatsLast, positionals.count > grammar.positionals.count {
      throw .unexpectedArgument(positionals[grammar.positionals.count])
    }
    guard positionals.count >= grammar.requiredCount else {
      throw .missingArgument(grammar.positionals[positionals.count])
    }
  }

  private mutating func take(
    _ word: String, from remaining: inout ArraySlice<String>, grammar: Grammar
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let name = parts[0]
    if grammar.flags.contains(name) || name == "--json" || name == "--help" {
      guard parts.count == 1 else { throw .unexpectedValue(option: name) }
      givenFlags.insert(name)
      return
    }
    guard let valueName = grammar.options[name] else {
      throw .unknownOption(name, known: (Array(grammar.options.keys) + grammar.flags + ["--json", "--help"]).sorted())
    }
    guard let value = parts.count == 2 ? parts[1] : remaining.popFirst(), !value.isEmpty else {
      throw .missingValue(option: name, value: valueName)
    }
    guard grammar.repeatable.contains(name) || values[name] == nil else { throw .repeatedOption(name) }
    values[name, default: []].append(value)
  }

  /// Whether a flag was given.
  func has(_ flag: String) -> Bool { givenFlags.contains(flag) }

  /// The value of an option, or `nil`.
  func value(_ option: String) -> String? { values[option]?.first }

  /// All values of a repeatable option.
  func all(_ option: String) -> [String] { values[option] ?? [] }

  /// The value of an option that must be given.
  func required(_ option: String, _ valueName: String) throws(UsageError) -> String {
    guard let value = value(option) else { throw .missingOption(option, value: valueName) }
    return value
  }
}

/// A command line that is not understood.
enum UsageError: Error, Hashable {
  case unknownCommand(String, known: [String])
  case unknownOption(String, known: [String])
  case missingValue(option: String, value: String)
  case unexpectedValue(option: String)
  case missingArgument(String)
  case missingOption(String, value: String)
  case unexpectedArgument(String)
  case repeatedOption(String)
  case invalidValue(option: String, value: String, expected: String)
}

extension UsageError: CustomStringConvertible {
  var description: String {
    switch self {
    case .unknownCommand(let name, let known):
      "\"\(name)\" is no command; the commands are \(known.joined(separator: ", "))."
    case .unknownOption(let name, let known):
      "\"\(name)\" is no option of this command; the options are \(known.joined(separator: ", "))."
    case .missingValue(let option, let value): "\(option) needs a value: \(option) \(value)."
    case .unexpectedValue(let option): "\(option) takes no value."
    case .missingArgument(let name): "\(name) is missing."
    case .missingOption(let option, let value): "\(option) \(value) is missing."
    case .unexpectedArgument(let word): "\"\(word)\" is one argument too many."
    case .repeatedOption(let option): "\(option) may be given once."
    case .invalidValue(let option, let value, let expected): "\(option) \(value): expected \(expected)."
    }
  }
}
