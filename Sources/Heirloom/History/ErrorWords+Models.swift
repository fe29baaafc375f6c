public import Foundation
import HeirloomFormats
public import HeirloomMapping
public import HeirloomModel

// The modules of pure values don't import Foundation, so their errors get its properties here.

extension ModelError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }

  /// The advice on what to do.
  public var recoverySuggestion: String? {
    switch self {
    case .invalidName: "Give it another name in the model; no store was touched."
    case .duplicateEntity, .duplicateProperty, .duplicateElement:
      "Rename one of the two in the model, with a renaming identifier if stores hold it already; no store was touched."
    case .missingSuperentity, .missingDestination, .missingConfigurationEntity:
      "Add the entity to the model, or take out what names it; no store was touched."
    case .inheritanceCycle: "Take the parent away from one of the entities in the circle; no store was touched."
    case .missingConstraintProperty, .missingIndexProperty:
      "Add the property to the entity, or take it out of the constraint or index; no store was touched."
    case .invalidComposite: "Give the attribute elements, or another type; no store was touched."
    case .nestedTooDeeply: "Make the attribute of fewer levels, or an entity of its own; no store was touched."
    case .undefinedType: "Give the attribute a type, or make it transient; no store was touched."
    }
  }
}

extension EvaluationError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }

  /// The advice on what to do.
  public var recoverySuggestion: String? {
    let kept = "Nothing was changed."
    return switch self {
    case .unparsed, .wrongArgumentCount, .unsupported: "\(kept) Correct the expression."
    case .unknownFunction: "\(kept) Give the function to the evaluator, or use one that it knows."
    case .unknownVariable: "\(kept) Give the variable a value, or take it out of the expression."
    case .unknownKey: "\(kept) Name a property that the entity has."
    case .wrongKind, .overflow, .divisionByZero, .indexOutOfRange:
      "\(kept) Write the expression so that it has a value for every object, such as with TERNARY."
    case .invalidPattern: "\(kept) Correct the pattern."
    case .tooDeep: "\(kept) Split the expression into simpler ones."
    }
  }
}

extension ExpressionError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }

  /// The advice on what to do.
  public var recoverySuggestion: String? {
    let kept = "Nothing was changed."
    return switch self {
    case .tooLong, .tooDeep: "\(kept) Split the text into simpler conditions or expressions."
    case .formatArgument, .argumentCount: "\(kept) Give as many arguments as the text has places for."
    case .argumentKind: "\(kept) Give an argument of the kind that its place takes."
    case .reservedWord: "\(kept) Put # before the name."
    case .unexpected, .unexpectedEnd, .unterminatedString, .invalidEscape, .invalidNumber, .unknownOption:
      "\(kept) Correct the text at that place."
    }
  }
}

extension VersionHashError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }

  /// The advice on what to do.
  public var recoverySuggestion: String? {
    "Nothing was changed. Take the hash from a store's metadata or from a model; one that is cut off fits neither."
  }
}

extension MappingInferenceError: LocalizedError, CustomNSError {
  /// The description.
  public var errorDescription: String? { description }

  /// The reasons, one sentence each.
  public var failureReason: String? { obstacles.map(\.reason).joined(separator: " ") }

  /// The advice on each obstacle.
  public var recoverySuggestion: String? {
    "No store was touched. " + obstacles.map(\.suggestion).joined(separator: " ")
  }

  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// Core Data's code of a failed inference.
  public var errorCode: Int { MappingObstacle.coreDataCode }

  /// The words.
  public var errorUserInfo: [String: Any] { ErrorWords.userInfo(of: self) }
}
