/// A command of the tool: how it is called, what its help says, what it does.
///
/// What stands here is all that the tool knows of its words: reading a command line, help and completions come from it.
struct Command: Sendable {
  /// The word that calls it.
  let name: String
  /// What follows the name where the declarations below don't tell it all, such as `STORE [--archive FILE [--include-store]]`.
  var usage: String?
  /// What it does, in one line.
  let summary: String
  /// More about it, one paragraph a line.
  var details: [String] = []
  /// The options that help lists, besides those of ``Option/common``.
  var options: [Option] = []
  /// A call that can be typed as it stands.
  let example: String
  /// What the positional words are called.
  var positionals: [String] = []
  /// The words that a positional is one of, by what it is called.
  var choices: [String: [String]] = [:]
  /// Whether the last positional may be repeated.
  var repeatsLast = false
  /// How many positionals must be there.
  var requiredCount = 0
  /// Does it.
  let run: @Sendable (Arguments, Console) throws -> CommandReport

  /// An option of a command.
  struct Option: Sendable {
    /// The option, such as `--to`.
    let name: String
    /// What its value is called; `nil` for a flag.
    var value: String?
    /// Whether it may be given several times.
    var isRepeatable = false
    /// Whether it must be given.
    var isRequired = false
    /// The words that its value is one of; empty where it may be anything.
    var choices: [String] = []
    /// What it does.
    let summary: String

    /// The same option where it must be given.
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

  /// What the command accepts.
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

  /// What follows the name, such as `STORE --to MODEL [--model MODEL]…`.
  var usageText: String { usageItems.joined(separator: " ") }

  /// The parts of what follows the name; each belongs on one line where there is room.
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

  /// All commands, in the order of their use.
  static var all: [Command] {
    [
      .inspect, .doctor, .verify, .compare, .plan, .rehearse, .migrate, .versions, .restore, .salvage, .snapshot,
      .check, .diagram, .report, .demo, .completions,
    ]
  }
}

extension Command.Option {
  /// The option with what its value is called, such as `--to MODEL`.
  var title: String { value.map { "\(name) \($0)" } ?? name }

  /// The model to migrate to.
  static let to = Command.Option(
    name: "--to", value: "MODEL",
    summary: "the model to migrate to; an .xcdatamodeld or .momd means its current version, the others are known")
  /// Further models.
  static let model = Command.Option(
    name: "--model", value: "MODEL", isRepeatable: true,
    summary: "a further model that may have made the store; it decides among versions of equal hashes")
  /// Mapping models.
  static let mapping = Command.Option(
    name: "--mapping", value: "FILE", isRepeatable: true,
    summary: "a mapping model (.xcmappingmodel, .cdm), used where its entities fit; one with a policy needs the app")
  /// Clean-up after the launch.
  static let deferring = Command.Option(
    name: "--defer",
    summary:
      "leave clean-up (tables and columns without use, new indexes) for a run without it; the store has the model at once"
  )
  /// Consent to losses.
  static let acceptLosses = Command.Option(
    name: "--accept-losses", summary: "go on although something is lost that the history's lock doesn't acknowledge")
  /// Consent to stores of other versions.
  static let acceptVersion = Command.Option(
    name: "--accept-version",
    summary: "go on although the store is of a newer version, or of an unknown one and loses something")
}
