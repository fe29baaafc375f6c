struct Arguments {
  struct Grammar {
    var command = ""
    /// In order, such as `STORE`.
    var positionals: [String] = []
    var repeatsLast = false
    var requiredCount = 0
    /// Options with a value, such as `--to`, each with the name of its value.
    var options: [String: String] = [:]
    var repeatable: Set<String> = []
    var required: [String] = []
    var flags: Set<String> = []

    func declares(_ option: String) -> Bool {
      options[option] != nil || flags.contains(option) || Command.Option.common.contains { $0.name == option }
    }
  }

  private(set) var positionals: [String] = []
  private var values: [String: [String]] = [:]
  private var givenFlags: Set<String> = []
  private let grammar: Grammar

  /// `--json` and `--help` are always accepted.
  init(_ words: [String], grammar: Grammar) throws(UsageError) {
    self.grammar = grammar
    var remaining = words[...]
    var optionsEnded = false
    while let word = remaining.popFirst() {
      if optionsEnded || !word.hasPrefix("-") || word == "-" {
        positionals.append(word)
      } else if word == "--" {
        optionsEnded = true
      } else {
        try take(word, from: &remaining)
      }
    }
    // Help is shown even if required arguments are missing.
    if has("--help") { return }
    if !grammar.repeatsLast, positionals.count > grammar.positionals.count {
      throw .unexpectedArgument(positionals[grammar.positionals.count])
    }
    guard positionals.count >= grammar.requiredCount else {
      throw .missingArgument(grammar.positionals[min(positionals.count, grammar.positionals.count - 1)])
    }
    for option in grammar.required where values[option] == nil {
      throw .missingOption(option, value: grammar.options[option] ?? "")
    }
  }

  private mutating func take(_ word: String, from remaining: inout ArraySlice<String>) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let name = parts[0]
    if name == "-h" || grammar.options[name] == nil && grammar.declares(name) {
      guard parts.count == 1 else { throw .unexpectedValue(option: name) }
      givenFlags.insert(name == "-h" ? "--help" : name)
      return
    }
    guard let valueName = grammar.options[name] else {
      let known = Array(grammar.options.keys) + grammar.flags + Command.Option.common.map(\.name)
      throw .unknown(.option(of: grammar.command), name, known: known.sorted())
    }
    // A word that looks like an option is one; a value that starts with dashes is joined by an
    // equals sign.
    let next = remaining.first.flatMap { $0.hasPrefix("--") ? nil : $0 }
    guard let value = parts.count == 2 ? parts[1] : next, !value.isEmpty else {
      throw .missingValue(option: name, value: valueName)
    }
    if parts.count == 1 { remaining.removeFirst() }
    guard grammar.repeatable.contains(name) || values[name] == nil else { throw .repeatedOption(name) }
    values[name, default: []].append(value)
  }

  func has(_ flag: String) -> Bool {
    check(flag)
    return givenFlags.contains(flag)
  }

  func value(_ option: String) -> String? { all(option).first }

  func all(_ option: String) -> [String] {
    check(option)
    return values[option] ?? []
  }

  func required(_ option: String, _ valueName: String) throws(UsageError) -> String {
    guard let value = value(option) else { throw .missingOption(option, value: valueName) }
    return value
  }

  /// Only a declared option's value may be read.
  func declares(_ option: String) -> Bool { grammar.declares(option) }

  /// Users couldn't give an undeclared option, and help wouldn't list it.
  private func check(_ option: String) {
    assert(grammar.declares(option), "heirloom \(grammar.command) reads \(option), which it does not declare")
  }
}
