import HeirloomOutput

extension Command {
  static let completions = Command(
    name: "completions", summary: "a script by which a shell completes commands, options and files",
    details: [
      "Put the script for bash into ~/.local/share/bash-completion/completions/heirloom, for zsh into a file _heirloom in a"
        + " folder of $fpath, for fish into ~/.config/fish/completions/heirloom.fish."
    ],
    example: "heirloom completions bash", positionals: ["SHELL"],
    choices: ["SHELL": CompletionScript.Shell.allCases.map(\.rawValue)], requiredCount: 1,
    run: CompletionsCommand.run)
}

enum CompletionsCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let word = arguments.positionals[0]
    guard let shell = CompletionScript.Shell(rawValue: word) else {
      throw UsageError.unknown(.choice("shell"), word, known: CompletionScript.Shell.allCases.map(\.rawValue))
    }
    let script = CompletionScript(commands: Command.all)
    let lines = script.lines(for: shell)
    return CommandReport(
      source: lines.joined(separator: "\n") + "\n",
      members: [("shell", .text(word)), ("script", .source(lines.joined(separator: "\n") + "\n"))])
  }
}
