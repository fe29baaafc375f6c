/// The tool's help.
enum HelpText {
  /// The help of the whole tool.
  static func overview(_ style: TextStyle) -> [String] {
    var lines = [
      "Heirloom migrates Core Data stores so that the previous version is never lost.", "",
      style.bold("Usage:") + " heirloom COMMAND …", "", style.bold("Commands:"),
    ]
    let width = Command.all.map(\.name.count).max() ?? 0
    for command in Command.all {
      let padding = String(repeating: " ", count: width - command.name.count)
      lines.append("  \(command.name)\(padding)  \(command.summary)")
    }
    lines += [
      "", "heirloom help COMMAND says more about one of them, with an example.",
      "Every command takes --json: one JSON object on standard output. heirloom --version tells the version.", "",
      style.bold("Exit codes:"),
    ]
    for code in ExitCode.allCases {
      let number = String(code.rawValue)
      lines.append("  \(String(repeating: " ", count: 3 - number.count))\(number)  \(code.meaning)")
    }
    return lines
  }

  /// The help of a command.
  static func lines(of command: Command, _ style: TextStyle) -> [String] {
    var lines = ["\(style.bold("heirloom \(command.name)")) \(command.usage)", "", sentence(command.summary)]
    for paragraph in command.details { lines += ["", paragraph] }
    let options =
      command.options + [
        Command.Option(name: "--json", summary: "one JSON object on standard output"),
        Command.Option(name: "--help", summary: "this help"),
      ]
    let titles = options.map { option in option.value.map { "\(option.name) \($0)" } ?? option.name }
    let width = titles.map(\.count).max() ?? 0
    lines += ["", style.bold("Options:")]
    for (title, option) in zip(titles, options) {
      let more = option.isRepeatable ? " (repeatable)" : ""
      lines.append("  \(title)\(String(repeating: " ", count: width - title.count))  \(option.summary)\(more)")
    }
    return lines + ["", style.bold("Example:"), "  \(command.example)"]
  }

  /// The overview for a program.
  static var members: OutputMembers {
    let commands = Command.all.map { OutputValue.object(members(of: $0)) }
    let codes = ExitCode.allCases.map { code in
      OutputValue.object([("code", .integer(Int64(code.rawValue))), ("meaning", .text(code.meaning))])
    }
    return [("commands", .list(commands)), ("exitCodes", .list(codes))]
  }

  /// The help of a command for a program.
  static func members(of command: Command) -> OutputMembers {
    [
      ("name", .text(command.name)), ("usage", .text("heirloom \(command.name) \(command.usage)")),
      ("summary", .text(command.summary)), ("example", .text(command.example)),
    ]
  }
}
