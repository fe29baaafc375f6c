/// A command line that is not understood.
enum UsageError: Error, Hashable {
  case unknownCommand(String, known: [String])
  case unknownOption(String, command: String, known: [String])
  case missingValue(option: String, value: String)
  case unexpectedValue(option: String)
  case missingArgument(String)
  case missingOption(String, value: String)
  case unexpectedArgument(String)
  case repeatedOption(String)
  case invalidValue(option: String, value: String, expected: String)
}

extension UsageError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  var description: String {
    switch self {
    case .unknownCommand(let name, let known):
      "\"\(name)\" is no command; the commands are \(known.joined(separator: ", "))."
    case .unknownOption(let name, let command, let known):
      "\"\(name)\" is no option of \(command); the options are \(known.joined(separator: ", "))."
    case .missingValue(let option, let value): "\(option) needs a value: \(option) \(value)."
    case .unexpectedValue(let option): "\(option) takes no value."
    case .missingArgument(let name): "\(name) is missing."
    case .missingOption(let option, let value): "\(option) \(value) is missing."
    case .unexpectedArgument(let word): "\"\(word)\" is one argument too many."
    case .repeatedOption(let option): "\(option) may be given once."
    case .invalidValue(let option, let value, let expected): "\(option) \(value): expected \(expected)."
    }
  }

  /// What to do.
  var suggestion: String {
    "heirloom help lists the commands and says more about each."
  }
}
