import Heirloom

enum UsageError: Error, Hashable {
  case unknown(Name, String, known: [String])
  case missingValue(option: String, value: String)
  case unexpectedValue(option: String)
  case missingArgument(String)
  case missingOption(String, value: String)
  case unexpectedArgument(String)
  case repeatedOption(String)
  case invalidValue(option: String, value: String, expected: String)

  /// The kind of name that a word isn't.
  enum Name: Hashable {
    case command
    case option(of: String?)
    /// One of a fixed set of words, such as a story.
    case choice(String)
  }
}

extension UsageError: CustomStringConvertible {
  var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .unknown(let kind, let word, let known):
      "Unknown \(kind.words(word))"
        + (kind.commandMeant(by: word).map { ": heirloom \($0) does that." }
          ?? NameSuggestion.nearest(to: word, among: known).map { ": did you mean \"\($0)\"?" }
          ?? "; there \(known.count == 1 ? "is" : "are") \(known.joined(separator: ", ")).")
    case .missingValue(let option, let value): "\(option) needs a value: \(option) \(value)."
    case .unexpectedValue(let option): "\(option) takes no value."
    case .missingArgument(let name): "\(name) is missing."
    case .missingOption(let option, let value): "\(option) \(value) is missing."
    case .unexpectedArgument(let word): "\"\(word)\" is one argument too many."
    case .repeatedOption(let option): "\(option) may be given once."
    case .invalidValue(let option, let value, let expected): "\(option) \(value): expected \(expected)."
    }
  }

  var suggestion: String {
    "heirloom help lists the commands and says more about each."
  }
}

extension UsageError.Name {
  fileprivate func commandMeant(by word: String) -> String? {
    switch self {
    case .command, .option: Command.name(forWord: word)
    case .choice: nil
    }
  }

  fileprivate func words(_ word: String) -> String {
    switch self {
    case .command: "command \"\(word)\""
    case .option(let command?): "option \"\(word)\" of heirloom \(command)"
    case .option(nil): "option \"\(word)\""
    case .choice(let name): "\(name) \"\(word)\""
    }
  }
}
