/// A script that completes the tool's command lines in a shell, made from the commands' declarations.
struct CompletionScript {
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  /// A kind of word that completes a command line.
  enum Kind: Hashable {
    case file
    case folder
    case words([String])
    /// A word with unknown values.
    case free

    /// Creates the kind from the value's name in help, such as `FOLDER`, unless `choices` lists all values.
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

  /// The words that may follow the tool's name, with their summaries.
  var topLevel: [(name: String, summary: String)] {
    commands.map { ($0.name, $0.summary) } + [("help", "the commands, or more about one of them")]
  }
}

extension Command {
  /// The kinds of the positional words, in order; the last one also counts for all later words.
  var positionalKinds: [CompletionScript.Kind] {
    positionals.map { CompletionScript.Kind($0, choices: choices[$0] ?? []) }
  }
}

extension Command.Option {
  /// The kind of the option's value; `nil` for a flag.
  var kind: CompletionScript.Kind? { value.map { CompletionScript.Kind($0, choices: choices) } }
}
