import HeirloomOutput

/// A command of the tool: its name, its help and its action.
///
/// The tool knows its words from here alone: reading a command line, help and completions use it.
struct Command: Sendable {
  /// The word that calls the command.
  let name: String
  /// The words after the name where declarations below don't tell all: `STORE [--archive FILE [--include-store]]`.
  var usage: String?
  /// The effect of the command, in one line.
  let summary: String
  /// More about the command, one paragraph a line.
  var details: [String] = []
  /// The options that help lists, besides those of every command.
  var options: [Option] = []
  /// A call that can be typed as it stands.
  let example: String
  /// The names of the positional words.
  var positionals: [String] = []
  /// The words that a positional may be, by its name.
  var choices: [String: [String]] = [:]
  /// True when the last positional may be repeated.
  var repeatsLast = false
  /// The number of positionals that must be there.
  var requiredCount = 0
  /// The action of the command.
  let run: @Sendable (Arguments, Console) throws -> CommandReport

  /// An option of a command.
  struct Option: Sendable {
    /// The option, such as `--to`.
    let name: String
    /// The name of its value; `nil` for a flag.
    var value: String?
    /// True when it may be given several times.
    var isRepeatable = false
    /// True when it must be given.
    var isRequired = false
    /// The words that its value may be; empty where it may be anything.
    var choices: [String] = []
    /// The effect of the option.
    let summary: String

    /// The same option, but required.
    var required: Option {
      var option = self
      option.isRequired = true
      return option
    }

    /// The options of every command.
    static let common = [
      Option(name: "--json", summary: "one JSON object on standard output"),
      Option(name: "--help", summary: "this help; -h too"),
    ]
  }

  /// The words that the command accepts.
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

  /// The effect of the command, one paragraph each.
  var paragraphs: [String] {
    let words = positionals.compactMap { name in
      choices[name].map { "\(name) is one of \($0.joined(separator: ", "))." }
    }
    return [sentence(summary)] + words + details
  }

  /// The words after the name, such as `STORE --to MODEL [--model MODEL]…`.
  var usageText: String { usageItems.joined(separator: " ") }

  /// The parts of the words after the name; each belongs on one line where there is room.
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
  /// The option with the name of its value, such as `--to MODEL`.
  var title: String { value.map { "\(name) \($0)" } ?? name }

  /// The effect of the option, with the words that its value may be.
  var explanation: String {
    let words = choices.isEmpty ? "" : ": " + choices.joined(separator: ", ")
    return summary + words + (isRepeatable ? " (repeatable)" : "")
  }

  /// The option for the model to migrate to.
  static let to = Command.Option(
    name: "--to", value: "MODEL",
    summary:
      "the model to migrate to; an .xcdatamodeld, a .momd or Swift source means its current version, the others are known"
  )
  /// The option for further models.
  static let model = Command.Option(
    name: "--model", value: "MODEL", isRepeatable: true,
    summary: "a further model that may have made the store; it decides among versions of equal hashes")
  /// The option for mapping models.
  static let mapping = Command.Option(
    name: "--mapping", value: "FILE", isRepeatable: true,
    summary: "a mapping model (.xcmappingmodel, .cdm), used where its entities fit; one with a policy needs the app")
  /// The option to leave clean-up until after the launch.
  static let deferring = Command.Option(
    name: "--defer",
    summary:
      "leave clean-up (tables and columns without use, new indexes) for a run without it; the store has the model at once"
  )
  /// The option to consent to losses.
  static let acceptLosses = Command.Option(
    name: "--accept-losses", summary: "go on although something is lost that the history's lock doesn't acknowledge")
  /// The option to consent to stores of other versions.
  static let acceptVersion = Command.Option(
    name: "--accept-version",
    summary: "go on although the store is of a newer version, or of an unknown one and loses something")
}

extension Command {
  /// Returns the name of the command that does what other tools have a word for.
  ///
  /// - Parameter word: A command or an option, such as `status` or `--dry-run`.
  /// - Returns: `nil` for any other word.
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
