import HeirloomOutput

/// The report of a command: text for a person and JSON for a program.
struct CommandReport {
  /// The lines for standard output; each is shown as one line, whatever it contains.
  var lines: [String] = []
  /// The text in a language of its own, after the lines, with names in quotes already: SQL, Swift, a diagram, a script.
  var source = ""
  /// The commands to GitHub Actions, a line each, after the lines.
  var workflowCommands: [String] = []
  /// The members of the JSON object.
  var members: OutputMembers = []
  /// The failure that keeps the command from counting as done.
  var failure: CommandFailure?
  /// True if standard error says the failure as well; false where the lines do.
  var printsFailure = true
  /// True if the JSON object is the last of several, each on a line.
  var isLastLine = false
}
