import HeirloomOutput

/// The command-line parser, help and completions are all derived from these declarations.
struct Command: Sendable {
  let name: String
  /// If it can't be derived, such as `STORE [--archive FILE [--include-store]]`.
  var usage: String?
  let summary: String
  /// Further paragraphs of help.
  var details: [String] = []
  var options: [Option] = []
  /// A complete command line, ready to paste.
  let example: String
  var positionals: [String] = []
  /// Allowed words of a positional, by its name.
  var choices: [String: [String]] = [:]
  var repeatsLast = false
  var requiredCount = 0
  let run: @Sendable (Arguments, Console) throws -> CommandReport

  struct Option: Sendable {
    let name: String
    /// The name of its value; `nil` for a flag.
    var value: String?
    var isRepeatable = false
    var isRequired = false
    /// Allowed values; empty if any value is.
    var choices: [String] = []
    let summary: String

    var required: Option {
      var option = self
      option.isRequired = true
      return option
    }

    static let common = [
      Option(name: "--json", summary: "one JSON object on standard output"),
      Option(name: "--help", summary: "this help; -h too"),
    ]
  }

  var grammar: Arguments.Grammar {
    var grammar = Arguments.Grammar(
      command: name, positionals: positionals, repeatsLast: repeatsLast, requiredCount: requiredCount)
    for option in options {
      if let value = option.value { grammar.options[option.name] = value } else { grammar.flags.insert(option.name) }
      if option.isRepeatable { grammar.repeatable.insert(option.name) }
      if option.isRequired { grammar.required.append(option.name) }
    }
    return grammar
  }

  var paragraphs: [String] {
    let words = positionals.compactMap { name in
      choices[name].map { "\(name) is one of \($0.joined(separator: ", "))." }
    }
    return [sentence(summary)] + words + details
  }

  var usageText: String { usageItems.joined(separator: " ") }

  /// Help keeps each on one line if there is room.
  var usageItems: [String] {
    if let usage { return usage.split(separator: " ").map(String.init) }
    let words = positionals.enumerated().map { index, name in
      let more = repeatsLast && index == positionals.count - 1 ? "…" : ""
      return index < requiredCount ? name + more : "[\(name)]\(more)"
    }
    let ordered = options.filter(\.isRequired) + options.filter { !$0.isRequired }
    return words
      + ordered.map { option in
        (option.isRequired ? option.title : "[\(option.title)]") + (option.isRepeatable ? "…" : "")
      }
  }
}

extension Command.Option {
  /// Such as `--to MODEL`.
  var title: String { value.map { "\(name) \($0)" } ?? name }

  var explanation: String {
    let words = choices.isEmpty ? "" : ": " + choices.joined(separator: ", ")
    return summary + words + (isRepeatable ? " (repeatable)" : "")
  }

  static let to = Command.Option(
    name: "--to", value: "MODEL",
    summary:
      "the model to migrate to; an .xcdatamodeld, a .momd or Swift source means its current version, the others are known"
  )
  static let model = Command.Option(
    name: "--model", value: "MODEL", isRepeatable: true,
    summary: "a further model that may have made the store; it decides among versions of equal hashes")
  static let mapping = Command.Option(
    name: "--mapping", value: "FILE", isRepeatable: true,
    summary: "a mapping model (.xcmappingmodel, .cdm), used where its entities fit; one with a policy needs the app")
  static let deferring = Command.Option(
    name: "--defer",
    summary:
      "leave clean-up (tables and columns without use, new indexes) for a run without it; the store has the model at once"
  )
  static let acceptLosses = Command.Option(
    name: "--accept-losses", summary: "migrate despite losses that the history's lock doesn't acknowledge")
  static let acceptVersion = Command.Option(
    name: "--accept-version",
    summary: "migrate although the store is of a newer version, or of an unknown one and loses something")
}

extension Command {
  /// For a word that other tools use, such as `status` or `--dry-run`.
  static func name(forWord word: String) -> String? {
    wordsOfOthers[String(word.drop { $0 == "-" })]
  }

  private static let wordsOfOthers = [
    "backups": "versions", "diff": "compare", "downgrade": "restore", "dry-run": "rehearse", "dryrun": "rehearse",
    "export": "snapshot", "fix": "repair", "info": "inspect", "init": "new-version", "integrity": "verify",
    "lint": "check", "list": "versions", "log": "history", "new": "new-version", "recover": "salvage",
    "rollback": "restore", "schema": "inspect", "show": "inspect", "simulate": "rehearse", "status": "doctor",
    "undo": "restore", "upgrade": "migrate", "validate": "verify",
  ]
}
