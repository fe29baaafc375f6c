/// What a command has to say: as text for a person and as JSON for a program.
struct CommandReport {
  /// Lines for standard output.
  var lines: [String] = []
  /// The members of the JSON object.
  var members: OutputMembers = []
  /// What keeps the command from counting as done.
  var failure: CommandFailure?
  /// Whether standard error says the failure as well; false where the lines do.
  var printsFailure = true
  /// Whether the JSON object is the last of several, each on a line.
  var isLastLine = false
}
