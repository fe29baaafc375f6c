public import Foundation
import HeirloomModel

/// An error that tells its cause, where the data are and what to do, each as a value of its own.
///
/// The values hold names and paths as they are in files. The texts that are made of them, `description` and
/// `recoverySuggestion`, are single lines without invisible characters.
public protocol ExplainedError: LocalizedError, CustomNSError, CustomStringConvertible {
  /// The cause in one sentence: what was found and what was expected.
  var cause: String { get }
  /// The place of the data after the error, and what to do.
  var help: ErrorHelp { get }
  /// The code of a similar failure of Core Data or Foundation in `NSCocoaErrorDomain`; `nil` if there is none.
  var coreDataCode: Int? { get }
  /// The reasons one by one, in sentences, where the cause doesn't give all of each.
  var reasons: [String] { get }
  /// The file that the error is about, by default that of the other error; `nil` if it is about none.
  var filePath: String? { get }
  /// The error that this one comes from; `nil` if it comes from none.
  var underlyingError: (any Error)? { get }
}

// Foundation on Linux takes nothing from `LocalizedError` where there is user info, so the words are put in there too.
extension ExplainedError {
  /// The place of the data after the error; `nil` where no data are concerned.
  public var dataLocation: DataLocation? { help.dataLocation }
  /// The advice on what to do, in sentences.
  public var advice: String { help.advice }
  /// The operations of the library that the advice is about, in the order in which they help.
  public var remedies: [Remedy] { help.remedies }

  /// No code.
  public var coreDataCode: Int? { nil }
  /// No reasons besides the cause.
  public var reasons: [String] { [] }
  /// The file of the other error.
  public var filePath: String? { (underlyingError as? any ExplainedError)?.filePath }
  /// No other error.
  public var underlyingError: (any Error)? { nil }

  /// The cause, in one line.
  public var description: String { PlainText.line(cause) }
  /// The description.
  public var errorDescription: String? { description }
  /// The reasons, in one line.
  public var failureReason: String? { ErrorWords.line(reasons) }
  /// The place of the data and the advice, in one line.
  public var recoverySuggestion: String? { ErrorWords.recovery(help) }
  /// No help book.
  public var helpAnchor: String? { nil }

  /// Core Data's domain, which it shares with Foundation.
  public static var errorDomain: String { NSCocoaErrorDomain }
  /// The code of the similar failure, or that of Core Data's general error.
  public var errorCode: Int { coreDataCode ?? ErrorWords.generalCode }
  /// The words by Foundation's keys, the file, and the error that this one comes from.
  public var errorUserInfo: [String: Any] {
    ErrorWords.userInfo(errorDescription, failureReason, recoverySuggestion, filePath, underlyingError)
  }
}

/// The place of the data after an error, and what to do.
public struct ErrorHelp: Hashable, Sendable {
  /// The place of the data; `nil` where no data are concerned.
  public let dataLocation: DataLocation?
  /// The advice on what to do, in sentences.
  public let advice: String
  /// The operations of the library that the advice is about, in the order in which they help.
  public let remedies: [Remedy]

  /// Creates help from its parts.
  public init(_ dataLocation: DataLocation?, _ advice: String, _ remedies: [Remedy] = []) {
    self.dataLocation = dataLocation
    self.advice = advice
    self.remedies = remedies
  }

  /// Returns the same help with the path of the store, where only that is missing.
  package func inStore(at path: String) -> ErrorHelp {
    let location: DataLocation? =
      switch dataLocation {
      case .store(nil): .store(path: path)
      case .damagedStore(nil): .damagedStore(path: path)
      default: dataLocation
      }
    return ErrorHelp(location, advice, remedies)
  }
}

/// The place of the data after an error.
@nonexhaustive
public enum DataLocation: Hashable, Sendable {
  /// The place where they were: nothing was changed.
  case unchanged
  /// The store with its content as it was, if perhaps not each byte of its file; the path is `nil` where only the error that holds this one knows it.
  case store(path: String?)
  /// The damaged store and the files beside it, which hold what can be saved; the path is `nil` as for a sound one.
  case damagedStore(path: String?)
  /// Another place, as the sentence says.
  case described(String)

  /// The place in a sentence.
  public var sentence: String {
    switch self {
    case .unchanged: "Nothing was changed."
    case .store(let path?): "\(path) still holds all data, and its content was not changed."
    case .store(nil): "The store still holds all data, and its content was not changed."
    case .damagedStore(let path): "\(path ?? "The store") and the files beside it still hold what can be saved."
    case .described(let sentence): sentence
    }
  }
}

/// An operation of the library that helps after an error, or with a finding.
@nonexhaustive
public enum Remedy: String, Hashable, Sendable, CaseIterable {
  /// The inspection of the store: what it is, and which model made it.
  case inspection
  /// The verification of the store: its structure, its schema and every row.
  case verification
  /// The plan of the migration, with what has to be decided.
  case plan
  /// The migration of the store.
  case migration
  /// The list of previous versions, from which one is restored.
  case previousVersions
  /// The salvage of what can be read of the store, into a new one.
  case salvage
  /// The archive with a diagnosis of the store, without a value of any row.
  case diagnosticsArchive
  /// The repair of the store: the damaged record of an unfinished operation is set aside, and entity numbers and highest
  /// keys are corrected by the rows.
  case repair
}
