import Foundation
import HeirloomModel

/// The common part of all modules' errors: their words for people and for Foundation.
package enum ErrorWords {
  /// Core Data's general error code, for failures that it has no code of its own for.
  package static let generalCode: Int = 134_060

  /// The advice where the system lets nobody open a file that is there (`EPERM`).
  package static let deniedAdvice =
    "Try again once the device is unlocked: till then, the file's protection class may keep it closed. If it stays closed,"
    + " find out which rule of the system refuses it."

  // These are here, rather than in the protocol's extension, so that the compiler makes one copy and not one a type.

  /// Returns the words of an error by Foundation's keys, the file, and the error that it comes from.
  static func userInfo(
    _ description: String?, _ reason: String?, _ suggestion: String?, _ path: String?, _ underlying: (any Error)?
  ) -> [String: Any] {
    var info: [String: Any] = [:]
    info[NSLocalizedDescriptionKey] = description
    info[NSLocalizedFailureReasonErrorKey] = reason
    info[NSLocalizedRecoverySuggestionErrorKey] = suggestion
    info[NSFilePathErrorKey] = path
    info[NSURLErrorKey] = path.map { URL(fileURLWithPath: $0) }
    info[NSUnderlyingErrorKey] = underlying.map { $0 as NSError }
    return info
  }

  /// Returns sentences in one line; `nil` for none.
  static func line(_ sentences: [String]) -> String? {
    sentences.isEmpty ? nil : PlainText.line(sentences.joined(separator: " "))
  }

  /// Returns the place of the data and the advice, in one line.
  static func recovery(_ help: ErrorHelp) -> String? {
    line([help.dataLocation?.sentence, help.advice].compactMap(\.self))
  }

  /// Returns the words of an error, whoever made it: a sentence if it is one of ours.
  package static func words(of error: any Error) -> String {
    if let words = (error as? any LocalizedError)?.errorDescription { return words }
    guard error is any CustomNSError || type(of: error) is NSError.Type else { return "\(error)" }
    let words = systemWords(of: error)
    let path = (error as NSError).userInfo[NSFilePathErrorKey] as? String
    return path.map { words.contains($0) ? words : "\(ended(words).dropLast()): \($0)" } ?? words
  }

  /// Returns the words of a system error, without the sentence that says only that something failed.
  package static func systemWords(of error: any Error) -> String {
    let error = error as NSError
    if let words = error.userInfo[NSLocalizedDescriptionKey] as? String { return words }
    return error.localizedFailureReason ?? "\(error.domain) error \(error.code)"
  }

  /// Returns the words of an error, with an end mark.
  package static func sentence(of error: any Error) -> String { ended(words(of: error)) }

  /// Returns a text with a full stop at its end, unless it ends with another end mark.
  package static func ended(_ text: String) -> String {
    text.hasSuffix(".") || text.hasSuffix("!") || text.hasSuffix("?") ? text : text + "."
  }

  /// Returns a text without the full stop at its end, to be followed by more.
  package static func clause(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Returns a text as a sentence: upper case first, an end mark last.
  package static func sentence(_ text: String) -> String {
    ended(text.prefix(1).uppercased() + text.dropFirst())
  }
}
