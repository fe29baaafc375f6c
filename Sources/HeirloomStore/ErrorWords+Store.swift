public import Foundation
import HeirloomFormats

extension StoreError: CustomNSError {
  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// The code that Core Data or Foundation gives a similar failure, or that of Core Data's general error.
  public var errorCode: Int { coreDataCode ?? ErrorWords.generalCode }

  /// The words and the store's file.
  public var errorUserInfo: [String: Any] { ErrorWords.userInfo(of: self, path: path) }
}

extension ManagedObjectError: CustomNSError {
  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// The code that Core Data gives a similar failure; `nil` where it raises an exception instead.
  public var coreDataCode: Int? {
    switch self {
    case .invalidValue: 1550
    case .missingValue: 1570
    case .tooFewObjects: 1580
    case .tooManyObjects: 1590
    case .deletionDenied: 1600
    case .notUnique: 133_021
    case .conflict: 133_020
    case .missingRow: 133_000
    case .missingExternalFile: 133_010
    case .store(let error): error.coreDataCode
    case .unknownEntity, .abstractEntity, .unknownProperty, .readOnlyProperty, .wrongKind, .unstorableValue,
      .wrongDestination, .otherContext, .deleted, .undecodableValue:
      nil
    }
  }

  /// The code that Core Data gives a similar failure, or that of its general error.
  public var errorCode: Int { coreDataCode ?? ErrorWords.generalCode }

  /// The words, and the store's error if it is one.
  public var errorUserInfo: [String: Any] {
    guard case .store(let error) = self else { return ErrorWords.userInfo(of: self) }
    return ErrorWords.userInfo(of: self, path: error.path, underlying: error)
  }
}

extension FetchError: LocalizedError, CustomNSError {
  /// The description.
  public var errorDescription: String? { description }

  /// Advice on where the data are and what to do.
  public var recoverySuggestion: String? {
    switch self {
    case .unknownEntity, .unknownProperty, .unsortable, .otherContext:
      "Nothing was changed. This is a mistake in the calling code or its model."
    case .condition:
      "Nothing was changed. Correct the condition, or give the function or variable that it asks for."
    case .functionFailed:
      "Nothing was changed. Correct the function, then fetch again."
    case .object(let error): error.recoverySuggestion
    }
  }

  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// The code that Core Data gives a similar failure, or that of its general error.
  public var errorCode: Int {
    guard case .object(let error) = self else { return ErrorWords.generalCode }
    return error.errorCode
  }

  /// The words and the cause.
  public var errorUserInfo: [String: Any] {
    let underlying: (any Error)? =
      switch self {
      case .condition(_, let error): error
      case .functionFailed(_, let error): error
      case .object(let error): error
      case .unknownEntity, .unknownProperty, .unsortable, .otherContext: nil
      }
    return ErrorWords.userInfo(of: self, underlying: underlying)
  }
}

extension SQLiteError: LocalizedError {
  package var errorDescription: String? { description }

  package var recoverySuggestion: String? {
    if isBusy { return "Nothing was changed. Close the store elsewhere and try again." }
    if isFull { return "Nothing was changed. Free some room on the volume, then try again." }
    if isReadOnly || isCannotOpen {
      return "Nothing was changed. Check the permissions of the file and its folder, then try again."
    }
    if isCorrupt || isNotDatabase {
      return "Keep the file and those beside it as they are: they hold what can be saved. heirloom salvage reads it."
    }
    return "Nothing was changed. Check the file with heirloom verify."
  }
}
