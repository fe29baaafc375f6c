/// A command of the tool: how it is called, what its help says, what it does.
struct Command: Sendable {
  /// The word that calls it.
  let name: String
  /// What follows the name, such as `STORE --to MODEL`.
  let usage: String
  /// What it does, in one line.
  let summary: String
  /// More about it, one paragraph a line.
  var details: [String] = []
  /// The options that help lists, besides `--json` and `--help`.
  var options: [Option] = []
  /// A call that can be typed as it stands.
  let example: String
  /// What the positional words are called.
  var positionals: [String] = []
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
    /// What it does.
    let summary: String
  }

  /// What the command accepts.
  var grammar: Arguments.Grammar {
    var grammar = Arguments.Grammar(
      command: name, positionals: positionals, repeatsLast: repeatsLast, requiredCount: requiredCount)
    for option in options {
      if let value = option.value { grammar.options[option.name] = value } else { grammar.flags.insert(option.name) }
      if option.isRepeatable { grammar.repeatable.insert(option.name) }
    }
    return grammar
  }

  /// All commands, in the order of their use.
  static var all: [Command] {
    [
      .inspect, .doctor, .verify, .compare, .plan, .rehearse, .migrate, .versions, .restore, .salvage, .snapshot,
      .diagram, .report, .demo,
    ]
  }
}

extension Command.Option {
  /// The model to migrate to.
  static let to = Command.Option(
    name: "--to", value: "MODEL",
    summary: "the model to migrate to; an .xcdatamodeld or .momd means its current version, the others are known")
  /// Further models.
  static let model = Command.Option(
    name: "--model", value: "MODEL", isRepeatable: true, summary: "a further model that may have made the store")
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
    name: "--accept-losses", summary: "go on although a store of an unknown or newer version loses something")
}
