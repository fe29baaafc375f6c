public import Foundation

extension ModelReadingError: CustomNSError {
  /// Foundation's domain for files, which Core Data shares.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// The code that Foundation or Core Data gives a similar failure.
  public var coreDataCode: Int {
    switch problem {
    case .missing: 260
    case .unreadable: 257
    case .notModel, .tooLarge: 259
    case .malformed, .unsupportedSnapshotFormat: 134_010
    case .inconsistent, .hashMismatch: 134_020
    }
  }

  /// The same as `coreDataCode`.
  public var errorCode: Int { coreDataCode }

  /// The words and the file's path.
  public var errorUserInfo: [String: Any] { ErrorWords.userInfo(of: self, path: path) }
}

extension MappingReadingError: CustomNSError {
  /// Foundation's domain for files, which Core Data shares.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// The code that Foundation or Core Data gives a similar failure.
  public var coreDataCode: Int {
    switch problem {
    case .missing: 260
    case .unreadable: 257
    case .notMappingModel, .tooLarge, .malformed: 259
    case .unfit: 134_140
    }
  }

  /// The same as `coreDataCode`.
  public var errorCode: Int { coreDataCode }

  /// The words and the file's path.
  public var errorUserInfo: [String: Any] { ErrorWords.userInfo(of: self, path: path) }
}

extension ArchivedValueError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }

  /// The remedy; the row that the value came from is as it was.
  public var recoverySuggestion: String? {
    let kept = "The value in the store was not changed."
    return switch self {
    case .notArchive: "\(kept) Read the attribute as what it is, or skip the object."
    case .malformed, .malformedObject, .cyclic, .duplicateKey:
      "\(kept) Skip it or give another in its place; a previous version of the store may have a whole one."
    case .tooDeep, .tooLarge, .tooManyValues, .tooMuchContent:
      "\(kept) It is beyond what is accepted from a file; copy its bytes as they are."
    case .unsupportedClass, .unencodable:
      "Nothing was written. Make the value from texts, numbers, dates, data, arrays, sets and dictionaries."
    }
  }
}
