extension CompletionScript {
  /// For bash from version 3.2 on.
  var bash: [String] {
    var lines = [
      "# Completes heirloom in bash.",
      "_heirloom() {",
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" command= kind= options= words= index line",
      "  COMPREPLY=()",
      "  # An equals sign is a word of its own here.",
      "  if [[ $word == = ]]; then",
      "    word=",
      "  elif [[ $before == = ]] && ((COMP_CWORD > 2)); then",
      "    before=\"${COMP_WORDS[COMP_CWORD-2]}\"",
      "  fi",
      "  for ((index = 1; index < COMP_CWORD; index++)); do",
      "    case \"${COMP_WORDS[index]}\" in",
      "    -*) ;;",
      "    *) command=\"${COMP_WORDS[index]}\"; break ;;",
      "    esac",
      "  done",
      "  case \"$command\" in",
      "  '') options='--help --json --version' kind=words words=\(quoted(topLevel.map(\.name).joined(separator: " "))) ;;",
      "  help) kind=words words=\(quoted(commands.map(\.name).joined(separator: " "))) ;;",
    ]
    for command in commands { lines += bash(command) }
    return lines + [
      "  esac",
      "  if [[ $word == -* && $kind != value-* ]]; then",
      "    kind=words words=\"$options\"",
      "  fi",
      "  case \"${kind#value-}\" in",
      "  words) while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -W \"$words\" -- \"$word\") ;;",
      "  file | folder)",
      "    compopt -o filenames 2>/dev/null",
      "    local action=-f",
      "    [[ $kind == *folder ]] && action=-d",
      "    while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen \"$action\" -- \"$word\")",
      "    ;;",
      "  esac",
      "}",
      "complete -F _heirloom heirloom",
    ]
  }

  private func bash(_ command: Command) -> [String] {
    let options = (command.options + Command.Option.common).map(\.name).joined(separator: " ")
    var cases: [String] = []
    for option in command.options {
      guard let kind = option.kind else { continue }
      cases.append("    \(option.name)) \(bash(kind, prefix: "value-")) ;;")
    }
    if let last = command.positionalKinds.last { cases.append("    *) \(bash(last, prefix: "")) ;;") }
    return ["  \(command.name))", "    options=\(quoted(options))"]
      + (cases.isEmpty ? [] : ["    case \"$before\" in"] + cases + ["    esac"]) + ["    ;;"]
  }

  private func bash(_ kind: Kind, prefix: String) -> String {
    switch kind {
    case .file: "kind=\(prefix)file"
    case .folder: "kind=\(prefix)folder"
    case .free: "kind=\(prefix)free"
    case .words(let words): "kind=\(prefix)words words=\(quoted(words.joined(separator: " ")))"
    }
  }

  private func quoted(_ text: String) -> String { "'\(text)'" }
}
