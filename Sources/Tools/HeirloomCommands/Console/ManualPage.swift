import HeirloomOutput

/// In `man(7)` macros, made from the same declarations as the help.
struct ManualPage {
  let commands: [Command]
  let version: String

  func source() -> String {
    var lines = [
      ".TH HEIRLOOM 1 \"\" \"heirloom \(version)\" \"User Commands\"",
      ".SH NAME", "heirloom \\- " + Self.plain("migrates Core Data stores so that the previous version is never lost"),
      ".SH SYNOPSIS", ".B heirloom", Self.plain("COMMAND …"),
      ".SH DESCRIPTION", Self.plain("heirloom help COMMAND says the same about one command on the terminal."),
      Self.plain("--json gives one JSON object on standard output; --version prints the version."),
      ".SH COMMANDS",
    ]
    for command in commands { lines += section(of: command) }
    lines.append(".SH EXIT STATUS")
    for code in ExitCode.allCases { lines += [".TP", ".B \(code.rawValue)", Self.plain(code.meaning)] }
    return lines.joined(separator: "\n") + "\n"
  }

  private func section(of command: Command) -> [String] {
    var lines = [".SS \"" + Self.plain("heirloom \(command.name) \(command.usageText)") + "\""]
    for paragraph in command.paragraphs { lines += [".PP", Self.plain(paragraph)] }
    for option in command.options {
      lines += [".TP", ".B \"" + Self.plain(option.title) + "\"", Self.plain(option.explanation)]
    }
    return lines + [".PP", "For example:", ".PP", ".RS", ".nf", Self.plain(command.example), ".fi", ".RE"]
  }

  private static func plain(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "\"": result += "\\(dq"
      case "'": result += "\\(aq"
      default: result.append(character)
      }
    }
    return result.hasPrefix(".") ? "\\&" + result : result
  }
}
