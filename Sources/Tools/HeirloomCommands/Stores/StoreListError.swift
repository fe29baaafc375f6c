import HeirloomModel

package enum StoreListError: Error, Hashable, Sendable {
  case unreadable(list: String, reason: String)
  case empty(list: String)
  /// Lines count from 1.
  case notText(list: String, line: Int)
  case holdsNull(list: String, line: Int)
  case sameStore(String, String)
}

extension StoreListError: CustomStringConvertible {
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .unreadable(let list, let reason):
      "The list of stores \(list) can't be read: \(reason); expected a file with one path a line."
    case .empty(let list): "The list of stores \(list) is empty; expected one path a line."
    case .notText(let list, let line): "Path \(line) of the list \(list) is not UTF-8, and would be read as another."
    case .holdsNull(let list, let line):
      "Line \(line) of the list \(list) has a NUL character in it: with --null, NUL ends each path."
    case .sameStore(let first, let second):
      first == second
        ? "The store \(first) is named twice; expected each store once."
        : "\(first) and \(second) are one and the same store; expected each store once."
    }
  }
}

extension StoreListError: CommandError {
  var failure: CommandFailure {
    CommandFailure(
      exitCode: .usage, code: "usage", message: description,
      suggestion: "Nothing was begun. heirloom help migrate says how stores are listed.")
  }
}
