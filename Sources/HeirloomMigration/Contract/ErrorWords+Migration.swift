public import Foundation
import HeirloomFormats

extension MigrationError: LocalizedError, CustomNSError {
  /// The description.
  public var errorDescription: String? { description }

  /// The beginning of suggestions, since the error doesn't know the store's file.
  package static let storeIsKept: String = "The store still holds all data in the old version."

  /// Advice on where the data are and what to do; the error that holds this one names the file.
  public var recoverySuggestion: String? {
    let kept = Self.storeIsKept
    return switch self {
    case .unsupportedMapping, .invalidExpression, .mappingFailed:
      "\(kept) Correct the mapping or its policy, then try again."
    case .unknownPolicies(let names, _):
      "\(kept) Register \(names.map { "\"\($0)\"" }.joined(separator: ", ")) in the configuration, or give the entity mappings"
        + " their Swift classes: policies are code of the app."
    case .notUnique:
      "\(kept) Let the expression or the policy make values that differ, or take only some of the objects by the entity"
        + " mapping's condition; what is copied as it is can be decided instead (newest, merge, quarantine)."
    case .storeContradictsModel:
      "\(kept) Check it with heirloom verify; a previous version may be whole, and heirloom salvage reads what can be read"
        + " into a new store."
    case .unfitConfiguration:
      "\(kept) Keep the entities of the configuration in it, or migrate with a mapping of the app's own."
    case .unfitStages(let error): "\(kept) \(error.recoverySuggestion ?? "")"
    case .stageFailed: "\(kept) Correct the handler, then try again: it runs anew on the store as it is."
    case .unexpectedRowCount:
      "\(kept) Check it with heirloom verify, which lists rows that no entity of the model has, then try again."
    case .database(_, 640): "\(kept) Free some room on its volume, then try again."
    case .proofFailed, .database:
      "\(kept) Try again; if it fails again, heirloom doctor with --archive writes what its makers need to find out why,"
        + " without a value of any row."
    case .appFailed: "\(kept) Correct what the app's code reports, then try again."
    case .unfitDecision: "\(kept) The plan's blockers say what can be decided, and how."
    case .cancelled: "\(kept) Run again to migrate."
    }
  }

  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// The same code as `coreDataCode`.
  public var errorCode: Int { coreDataCode }

  /// The words and the cause.
  public var errorUserInfo: [String: Any] {
    let underlying: (any Error)? =
      switch self {
      case .invalidExpression(let error): error
      case .mappingFailed(let error): error
      case .unfitStages(let error): error
      case .stageFailed(let error): error
      case .appFailed(let error): error
      default: nil
      }
    return ErrorWords.userInfo(of: self, underlying: underlying)
  }
}

extension EntityMappingFailure: LocalizedError, CustomNSError {
  /// The description.
  public var errorDescription: String? { description }

  /// Advice on where the data are and what to do.
  public var recoverySuggestion: String? {
    "The store still holds all data in the old version. Correct \(hook.rawValue) of the mapping's policy, or the mapping,"
      + " then try again."
  }

  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// Core Data's code of a policy that failed.
  public var errorCode: Int { 134_170 }

  /// The words and the cause.
  public var errorUserInfo: [String: Any] { ErrorWords.userInfo(of: self, underlying: underlying) }
}

extension MigrationManagerError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }

  /// Advice on where the data are and what to do.
  public var recoverySuggestion: String? {
    let kept = "The store still holds all data in the old version."
    return switch self {
    case .unknownEntityMapping: "\(kept) Use the name of an entity mapping of the mapping model."
    case .notAssociated, .associatedTwice:
      "\(kept) Call associate once for each object that the policy makes."
    case .foreignObject: "\(kept) Give the object that the policy was given, and the one that it made."
    case .unfitValue, .expressionFailed: "\(kept) Correct the expression in the mapping."
    case .missingValue:
      "\(kept) Set the property in the policy or the mapping, give it a default, or make it optional."
    }
  }
}

extension InvalidExpression: LocalizedError, CustomNSError {
  /// The description.
  public var errorDescription: String? { description }

  /// Advice on where the data are and what to do.
  public var recoverySuggestion: String? {
    "The store still holds all data in the old version. Correct the expression in the mapping, then try again."
  }

  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// Core Data's code of a mapping that is missing or can't be used.
  public var errorCode: Int { 134_140 }

  /// The words.
  public var errorUserInfo: [String: Any] { ErrorWords.userInfo(of: self) }
}

extension StageFailure: LocalizedError, CustomNSError {
  /// The description.
  public var errorDescription: String? { description }

  /// Advice on where the data are and what to do.
  public var recoverySuggestion: String? {
    "The store still holds all data in the old version. Correct the handler, then try again: it runs anew on the store as"
      + " it is."
  }

  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// Core Data's code of a migration that failed.
  public var errorCode: Int { 134_110 }

  /// The words and the cause.
  public var errorUserInfo: [String: Any] { ErrorWords.userInfo(of: self, underlying: underlying) }
}

extension StageHandlerError: LocalizedError {
  /// The description as a sentence.
  public var errorDescription: String? { ErrorWords.sentence(description) }

  /// Advice on where the data are and what to do.
  public var recoverySuggestion: String? {
    "The store still holds all data in the old version. Save or roll back at the handler's end, then try again."
  }
}

extension StagedMigrationError: CustomNSError {
  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// The same code as `coreDataCode`.
  public var errorCode: Int { coreDataCode }

  /// The words.
  public var errorUserInfo: [String: Any] { ErrorWords.userInfo(of: self) }
}
