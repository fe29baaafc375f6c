import Foundation
import HeirloomModel

/// The common part of all modules' errors: messages for users and for Foundation.
package enum ErrorWords {
  /// Core Data's general error code, for failures without a code of their own.
  package static let generalCode: Int = 134_060

  /// For an existing file that the system denies access to (`EPERM`).
  package static let deniedAdvice =
    "Try again once the device is unlocked: till then, the file's protection class may keep it closed. If it stays closed,"
    + " find out which rule of the system refuses it."

  // These are not in the protocol's extension, so that the compiler generates one copy instead of one per type.

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

  static func line(_ sentences: [String]) -> String? {
    sentences.isEmpty ? nil : PlainText.line(sentences.joined(separator: " "))
  }

  static func recovery(_ help: ErrorHelp) -> String? {
    line([help.dataLocation?.sentence, help.advice].compactMap(\.self))
  }

  /// A sentence if the error is ours.
  package static func words(of error: any Error) -> String {
    if let words = (error as? any LocalizedError)?.errorDescription { return words }
    guard error is any CustomNSError || type(of: error) is NSError.Type else { return "\(error)" }
    let words = systemWords(of: error)
    let path = (error as NSError).userInfo[NSFilePathErrorKey] as? String
    return path.map { words.contains($0) ? words : "\(ended(words).dropLast()): \($0)" } ?? words
  }

  /// Leaves out Foundation's sentence that only reports a failure.
  package static func systemWords(of error: any Error) -> String {
    let error = error as NSError
    if let words = error.userInfo[NSLocalizedDescriptionKey] as? String { return words }
    return error.localizedFailureReason ?? "\(error.domain) error \(error.code)"
  }

  package static func sentence(of error: any Error) -> String { ended(words(of: error)) }

  package static func ended(_ text: String) -> String {
    text.hasSuffix(".") || text.hasSuffix("!") || text.hasSuffix("?") ? text : text + "."
  }

  package static func clause(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  package static func sentence(_ text: String) -> String {
    ended(text.prefix(1).uppercased() + text.dropFirst())
  }
}
