extension CompletionScript {
  var zsh: [String] {
    var lines = [
      "#compdef heirloom",
      "# Completes heirloom in zsh.",
      "_heirloom() {",
      "  local context state line",
      "  typeset -A opt_args",
      "  local -a commands=(",
    ]
    lines += topLevel.map { "    " + quoted("\($0.name):\($0.summary)") }
    lines += [
      "  )",
      "  _arguments -C '(- *)--version[the version]' '(- *)--help[the commands]' '--json[JSON]' \\",
      "    '1:command:->command' '*::argument:->argument'",
      "  case $state in",
      "  command) _describe -t commands command commands ;;",
      "  argument)",
      "    case $words[1] in",
      "    help) _arguments \(quoted("1:command:(\(commands.map(\.name).joined(separator: " ")))")) ;;",
    ]
    for command in commands {
      let specifications = (command.options + Command.Option.common).map(zsh) + positionals(of: command)
      lines.append("    \(command.name))")
      lines.append("      _arguments \(specifications.map(quoted).joined(separator: " \\\n        "))")
      lines.append("      ;;")
    }
    return lines + [
      "    esac ;;", "  esac", "}",
      "# Loaded by its name it is called at once; read by source it is made known.",
      "if [[ ${funcstack[1]:-} == _heirloom ]]; then",
      "  _heirloom \"$@\"",
      "else",
      "  compdef _heirloom heirloom",
      "fi",
    ]
  }

  private func zsh(_ option: Command.Option) -> String {
    let text = (option.isRepeatable ? "*" : "") + "\(option.name)[\(escaped(option.summary))]"
    guard let kind = option.kind else { return text }
    return text + ":\(escaped(option.value ?? "")):\(action(kind))"
  }

  private func positionals(of command: Command) -> [String] {
    zip(command.positionals, command.positionalKinds).enumerated().map { index, positional in
      let isLast = index == command.positionals.count - 1
      let place = command.repeatsLast && isLast ? "*" : String(index + 1)
      return "\(place):\(positional.0):\(action(positional.1))"
    }
  }

  private func action(_ kind: Kind) -> String {
    switch kind {
    case .file: "_files"
    case .folder: "_files -/"
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .free: " "
    }
  }

  private func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if "[]:\\".contains(character) { result += "\\" }
      result.append(character)
    }
  }

  private func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
