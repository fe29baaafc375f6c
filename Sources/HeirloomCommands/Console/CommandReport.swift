import HeirloomOutput

/// What a command has to say: as text for a person and as JSON for a program.
struct CommandReport {
  /// Lines for standard output; what stands in them is shown as one line each, whatever it is.
  var lines: [String] = []
  /// Text in a language of its own, after the lines: SQL, Swift, a diagram, a script; whoever wrote it has put names in quotes.
  var source = ""
  /// Commands to GitHub Actions, a line each, after the lines.
  var workflowCommands: [String] = []
  /// The members of the JSON object.
  var members: OutputMembers = []
  /// What keeps the command from counting as done.
  var failure: CommandFailure?
  /// Whether standard error says the failure as well; false where the lines do.
  var printsFailure = true
  /// Whether the JSON object is the last of several, each on a line.
  var isLastLine = false
}
