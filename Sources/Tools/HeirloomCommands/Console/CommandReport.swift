import HeirloomOutput

struct CommandReport {
  /// For standard output; line breaks within one are escaped.
  var lines: [String] = []
  /// Printed unchanged after the lines, because it quotes its names itself: SQL, Swift, a diagram
  /// or a script.
  var source = ""
  var workflowCommands: [String] = []
  var members: OutputMembers = []
  var failure: CommandFailure?
  /// False if the lines report the failure already, so that standard error doesn't repeat it.
  var printsFailure = true
  /// The JSON object is the last line of JSON Lines.
  var isLastLine = false
}
