/// The script by which a shell completes the tool's command lines, made from the declarations of the commands.
struct CompletionScript {
  /// A shell that a script can be made for.
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  /// A kind of word that completes a command line.
  enum Kind: Hashable {
    case file
    case folder
    case words([String])
    /// A word that nobody could know.
    case free

    /// Tells the kind of a value.
    ///
    /// - Parameters:
    ///   - name: The name of the value in help, which tells whether the value is a file.
    ///   - choices: The words that the value may be.
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

  /// The commands.
  let commands: [Command]

  /// Returns the script.
  func lines(for shell: Shell) -> [String] {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  /// The words that may follow the tool's name, with the effect of each.
  var topLevel: [(name: String, summary: String)] {
    commands.map { ($0.name, $0.summary) } + [("help", "the commands, or more about one of them")]
  }
}

extension Command {
  /// The kinds of the positional words, in order; the last counts for all that follow.
  var positionalKinds: [CompletionScript.Kind] {
    positionals.map { CompletionScript.Kind($0, choices: choices[$0] ?? []) }
  }
}

extension Command.Option {
  /// The kind of the option's value; `nil` for a flag.
  var kind: CompletionScript.Kind? { value.map { CompletionScript.Kind($0, choices: choices) } }
}
