/// Completes the tool's command lines in a shell; made from the commands' declarations.
struct CompletionScript {
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  enum Kind: Hashable {
    case file
    case folder
    case words([String])
    case free

    /// `name` is the value's name in help, such as `FOLDER`.
    init(_ name: String, choices: [String]) {
      if !choices.isEmpty {
        self = .words(choices)
      } else if name == "DIRECTORY" || name == "FOLDER" {
        self = .folder
      } else if ["FILE", "MODEL", "STORE", "PATH", "SOURCE", "DEST", "LIST"].contains(where: name.hasPrefix) {
        self = .file
      } else {
        self = .free
      }
    }
  }

  let commands: [Command]

  func lines(for shell: Shell) -> [String] {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  var topLevel: [(name: String, summary: String)] {
    commands.map { ($0.name, $0.summary) } + [("help", "the commands, or more about one of them")]
  }
}

extension Command {
  /// In order; the last one also counts for all later words.
  var positionalKinds: [CompletionScript.Kind] {
    positionals.map { CompletionScript.Kind($0, choices: choices[$0] ?? []) }
  }
}

extension Command.Option {
  var kind: CompletionScript.Kind? { value.map { CompletionScript.Kind($0, choices: choices) } }
}
