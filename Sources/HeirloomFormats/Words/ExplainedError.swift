public import Foundation
import HeirloomModel

/// An error with its cause, the location of the data and the remedy as separate values.
///
/// The values contain names and paths unchanged. The texts made from them, `description` and `recoverySuggestion`, are
/// single lines without invisible characters.
public protocol ExplainedError: LocalizedError, CustomNSError, CustomStringConvertible {
  /// The cause in one sentence: what was found and what was expected.
  var cause: String { get }
  /// The location of the data after the error, and the remedy.
  var help: ErrorHelp { get }
  /// The code of a similar failure of Core Data or Foundation in `NSCocoaErrorDomain`; `nil` if there is none.
  var coreDataCode: Int? { get }
  /// The individual reasons, in sentences, where the cause doesn't contain them all.
  var reasons: [String] { get }
  /// The affected file, by default that of the underlying error; `nil` if there is none.
  var filePath: String? { get }
  /// The error that caused this one; `nil` if there is none.
  var underlyingError: (any Error)? { get }
}

// With user info, Foundation on Linux ignores `LocalizedError`, so the messages are added there too.
extension ExplainedError {
  /// The location of the data after the error; `nil` if no data are affected.
  public var dataLocation: DataLocation? { help.dataLocation }
  /// The advice on what to do, in sentences.
  public var advice: String { help.advice }
  /// The library's operations that help, most helpful first.
  public var remedies: [Remedy] { help.remedies }

  /// No code.
  public var coreDataCode: Int? { nil }
  /// No reasons besides the cause.
  public var reasons: [String] { [] }
  /// The file of the underlying error.
  public var filePath: String? { (underlyingError as? any ExplainedError)?.filePath }
  /// No underlying error.
  public var underlyingError: (any Error)? { nil }

  /// The cause, in one line.
  public var description: String { PlainText.line(cause) }
  /// The description.
  public var errorDescription: String? { description }
  /// The reasons, in one line.
  public var failureReason: String? { ErrorWords.line(reasons) }
  /// The location of the data and the advice, in one line.
  public var recoverySuggestion: String? { ErrorWords.recovery(help) }
  /// No help book.
  public var helpAnchor: String? { nil }

  /// Core Data's error domain, which is Foundation's.
  public static var errorDomain: String { NSCocoaErrorDomain }
  /// The code of a similar failure, or Core Data's general code.
  public var errorCode: Int { coreDataCode ?? ErrorWords.generalCode }
  /// The messages by Foundation's keys, the file, and the underlying error.
  public var errorUserInfo: [String: Any] {
    ErrorWords.userInfo(errorDescription, failureReason, recoverySuggestion, filePath, underlyingError)
  }
}

/// The location of the data after an error, and the remedy.
public struct ErrorHelp: Hashable, Sendable {
  /// The location of the data; `nil` if no data are affected.
  public let dataLocation: DataLocation?
  /// The advice on what to do, in sentences.
  public let advice: String
  /// The library's operations that help, most helpful first.
  public let remedies: [Remedy]

  /// Creates help from its parts.
  public init(_ dataLocation: DataLocation?, _ advice: String, _ remedies: [Remedy] = []) {
    self.dataLocation = dataLocation
    self.advice = advice
    self.remedies = remedies
  }

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

/// The location of the data after an error.
@nonexhaustive
public enum DataLocation: Hashable, Sendable {
  /// The original location: nothing was changed.
  case unchanged
  /// The store with its content unchanged, though its bytes may differ; the path is `nil` if only the enclosing error
  /// has it.
  case store(path: String?)
  /// The damaged store and the files beside it, which contain all that can be saved; the path may be `nil` as in
  /// `store`.
  case damagedStore(path: String?)
  /// Another location, given in a sentence.
  case described(String)

  /// The location in a sentence.
  public var sentence: String {
    switch self {
    case .unchanged: "Nothing was changed."
    case .store(let path?): "\(path) still holds all data, and its content was not changed."
    case .store(nil): "The store still holds all data, and its content was not changed."
    case .damagedStore(let path):
      "\(path ?? "The store") and the files beside it still hold what can be salvaged."
    case .described(let sentence): sentence
    }
  }
}

/// An operation of the library that helps with an error or a finding.
@nonexhaustive
public enum Remedy: String, Hashable, Sendable, CaseIterable {
  /// Inspecting the store: its kind, and the model it was made with.
  case inspection
  /// Verifying the store: its structure, its schema and every row.
  case verification
  /// Planning the migration, with the decisions to make.
  case plan
  /// Migrating the store.
  case migration
  /// Listing previous versions, to restore one.
  case previousVersions
  /// Salvaging the readable rows into a new store.
  case salvage
  /// Writing an archive with a diagnosis of the store, without any value of a row.
  case diagnosticsArchive
  /// Repairing the store: the record of an unfinished operation is set aside if it is damaged or its store is missing,
  /// and entity numbers and highest keys are corrected from the rows.
  case repair
}
