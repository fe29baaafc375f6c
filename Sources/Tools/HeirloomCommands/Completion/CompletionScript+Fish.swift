extension CompletionScript {
  var fish: [String] {
    var lines = ["# Completes heirloom in fish.", "complete -c heirloom -f"]
    lines += topLevel.map {
      "complete -c heirloom -n __fish_use_subcommand -a \($0.name) -d \(quoted($0.summary))"
    }
    lines.append("complete -c heirloom -n __fish_use_subcommand -l version -d 'the version'")
    let names = commands.map(\.name).joined(separator: " ")
    lines.append("complete -c heirloom -n '__fish_seen_subcommand_from help' -a \(quoted(names))")
    for command in commands {
      let start = "complete -c heirloom -n '__fish_seen_subcommand_from \(command.name)'"
      for option in command.options + Command.Option.common {
        let name = String(option.name.drop { $0 == "-" })
        lines.append("\(start) -l \(name)\(value(option.kind)) -d \(quoted(option.summary))")
      }
      switch command.positionalKinds.last {
      case .file: lines.append("\(start) -F")
      case .folder: lines.append("\(start) -a '(__fish_complete_directories)'")
      case .words(let words): lines.append("\(start) -a \(quoted(words.joined(separator: " ")))")
      case .free, nil: break
      }
    }
    return lines
  }

  private func value(_ kind: Kind?) -> String {
    switch kind {
    case .file: " -r -F"
    case .folder: " -x -a '(__fish_complete_directories)'"
    case .words(let words): " -x -a \(quoted(words.joined(separator: " ")))"
    case .free: " -x"
    case nil: ""
    }
  }

  private func quoted(_ text: String) -> String {
    "'"
      + text.reduce(into: "") { result, character in
        if character == "'" || character == "\\" { result += "\\" }
        result.append(character)
      } + "'"
  }
}
