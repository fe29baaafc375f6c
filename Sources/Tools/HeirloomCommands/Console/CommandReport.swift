import HeirloomOutput

/// A command's report: text for the terminal and JSON for programs.
struct CommandReport {
  /// The lines for standard output; line breaks within one are escaped.
  var lines: [String] = []
  /// Text printed unchanged after the lines, because it quotes its names itself: SQL, Swift, a diagram or a script.
  var source = ""
  /// Workflow commands of GitHub Actions, printed after the lines.
  var workflowCommands: [String] = []
  /// The members of the JSON object.
  var members: OutputMembers = []
  /// The failure; `nil` if the command succeeded.
  var failure: CommandFailure?
  /// False if the lines report the failure already, so that standard error doesn't repeat it.
  var printsFailure = true
  /// True if the JSON object is the last line of JSON Lines.
  var isLastLine = false
}
