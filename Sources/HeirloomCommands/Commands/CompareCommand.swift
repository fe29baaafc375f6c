import Heirloom

extension Command {
  /// Compares two models.
  static let compare = Command(
    name: "compare", usage: "SOURCE DEST", summary: "what changed, what it does to rows, verdict",
    details: [
      "SOURCE and DEST are models of any kind; a store stands for the model that made it. The exit code is 0 whatever the"
        + " verdict: identical, compatible, lightweight, needsMapping."
    ],
    example: "heirloom compare Journal.sqlite Journal.xcdatamodeld", positionals: ["SOURCE", "DEST"], requiredCount: 2,
    run: CompareCommand.run)
}

/// Compares two models.
enum CompareCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let source = try NamedModel(at: console.path(arguments.positionals[0]))
    let destination = try NamedModel(at: console.path(arguments.positionals[1]))
    for warning in source.warnings + destination.warnings { console.log("note: \(warning)") }
    let text = DifferenceText(difference: ModelDifference(from: source.model, to: destination.model))
    let style = console.style
    return CommandReport(
      lines: ["\(style.bold(source.name)) → \(style.bold(destination.name)): \(text.verdictWords)."]
        + text.lines(style),
      members: text.members)
  }
}
