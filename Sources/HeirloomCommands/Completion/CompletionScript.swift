/// The script by which a shell completes the tool's command lines, made from what the commands declare.
struct CompletionScript {
  /// A shell that a script can be made for.
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  /// What a word may be completed with.
  enum Kind: Hashable {
    case file
    case folder
    case words([String])
    /// Nothing that anybody could know.
    case free

    /// Tells what a value may be.
    ///
    /// - Parameters:
    ///   - name: What help calls the value: that is where it is said that a value is a file.
    ///   - choices: The words that it is one of.
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

  /// The words that may follow the tool's name, with what each does.
  var topLevel: [(name: String, summary: String)] {
    commands.map { ($0.name, $0.summary) } + [("help", "the commands, or more about one of them")]
  }
}

extension Command {
  /// What its positional words are completed with, in order; the last counts for all that follow.
  var positionalKinds: [CompletionScript.Kind] {
    positionals.map { CompletionScript.Kind($0, choices: choices[$0] ?? []) }
  }
}

extension Command.Option {
  /// What its value is completed with; `nil` for a flag.
  var kind: CompletionScript.Kind? { value.map { CompletionScript.Kind($0, choices: choices) } }
}
