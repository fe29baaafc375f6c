import HeirloomOutput

struct HelpText {
  let style: TextStyle
  let columns: Int

  init(_ console: Console) {
    style = console.style
    // Longer lines are hard to read.
    columns = min(max(console.columns(), 20), 100)
  }

  /// Short enough for one screen.
  func overview(of commands: [Command]) -> [String] {
    let title = "Heirloom migrates Core Data stores so that the previous version is never lost."
    let codes = ExitCode.allCases.enumerated().map { index, code in
      Self.unbroken((index == 0 ? "" : "· ") + "\(code.rawValue) \(code.meaning)")
    }.joined(separator: " ")
    return TextLayout.wrapped(title, to: columns)
      + ["", style.bold("Usage:") + " heirloom COMMAND …", "", style.bold("Commands:")]
      + TextLayout.table(commands.map { ($0.name, $0.summary) }, columns: columns)
      + [""] + TextLayout.wrapped("heirloom help COMMAND says more about one, with an example.", to: columns)
      + TextLayout.wrapped(
        "--json gives one JSON object on standard output; --version prints the version.", to: columns)
      + [""] + titled("Exit codes:", codes)
  }

  func lines(of command: Command) -> [String] {
    var lines = titled("heirloom \(command.name)", command.usageItems.map(Self.unbroken).joined(separator: " ")) + [""]
    for paragraph in command.paragraphs {
      lines += TextLayout.wrapped(paragraph, to: columns) + [""]
    }
    let options = (command.options + Command.Option.common).map { (title: $0.title, text: $0.explanation) }
    lines += [style.bold("Options:")] + TextLayout.table(options, columns: columns)
    // The example is never wrapped, to keep it easy to copy.
    return lines + ["", style.bold("Example:"), "  " + command.example]
  }

  private func titled(_ title: String, _ text: String) -> [String] {
    var lines = TextLayout.wrapped("\(title) \(text)", to: columns, indent: 2).map {
      String($0.map { $0 == "\u{A0}" ? " " : $0 })
    }
    if lines[0].hasPrefix(title) { lines[0] = style.bold(title) + lines[0].dropFirst(title.count) }
    return lines
  }

  private static func unbroken(_ text: String) -> String {
    String(text.map { $0 == " " ? "\u{A0}" : $0 })
  }

  static func members(of commands: [Command]) -> OutputMembers {
    let commands = commands.map { OutputValue.object(members(of: $0)) }
    let codes = ExitCode.allCases.map { code in
      OutputValue.object([("code", .integer(Int64(code.rawValue))), ("meaning", .text(code.meaning))])
    }
    return [("commands", .list(commands)), ("exitCodes", .list(codes))]
  }

  static func members(of command: Command) -> OutputMembers {
    let options = (command.options + Command.Option.common).map { option in
      OutputValue.object([
        ("name", .text(option.name)), ("value", .optional(option.value)), ("summary", .text(option.summary)),
        ("repeatable", .boolean(option.isRepeatable)), ("required", .boolean(option.isRequired)),
        ("choices", .texts(option.choices)),
      ])
    }
    return [
      ("name", .text(command.name)), ("usage", .text("heirloom \(command.name) \(command.usageText)")),
      ("summary", .text(command.summary)), ("example", .text(command.example)), ("options", .list(options)),
    ]
  }
}
