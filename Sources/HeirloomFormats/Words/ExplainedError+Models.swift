public import HeirloomMapping
public import HeirloomModel

// The modules of pure values don't import Foundation, so their errors conform here.

extension ModelError: ExplainedError {
  /// The description.
  public var cause: String { description }

  /// The correction of the model.
  public var help: ErrorHelp {
    let advice =
      switch self {
      case .invalidName: "Give it another name in the model."
      case .duplicateEntity, .duplicateProperty, .duplicateElement:
        "Rename one of the two in the model, with a renaming identifier if stores hold it already."
      case .unequalEntities: "Make the entity the same in each model, or rename one."
      case .missingSuperentity, .missingDestination, .missingConfigurationEntity:
        "Add the entity to the model, or remove the references to it."
      case .inheritanceCycle: "Remove the parent of one of the entities in the circle."
      case .missingConstraintProperty, .missingIndexProperty:
        "Add the property to the entity, or remove it from the constraint or index."
      case .invalidComposite: "Give the attribute elements, or another type."
      case .nestedTooDeeply: "Give the attribute fewer levels, or make it a separate entity."
      case .undefinedType: "Give the attribute a type, or make it transient."
      }
    return ErrorHelp(.unchanged, advice)
  }
}

extension EvaluationError: ExplainedError {
  /// The description.
  public var cause: String { description }

  /// The correction of the expression.
  public var help: ErrorHelp {
    let advice =
      switch self {
      case .unparsed, .wrongArgumentCount, .unsupported: "Correct the expression."
      case .unknownFunction: "Supply the function to the evaluator, or use one of the listed functions."
      case .unknownVariable: "Give the variable a value, or remove it from the expression."
      case .unknownKey: "Name a property that the entity has."
      case .wrongKind, .overflow, .divisionByZero, .indexOutOfRange:
        "Write the expression so that it has a value for every object, such as with TERNARY."
      case .invalidPattern: "Correct the pattern."
      case .tooDeep: "Split the expression into simpler ones."
      }
    return ErrorHelp(.unchanged, advice)
  }
}

extension ExpressionError: ExplainedError {
  /// The description.
  public var cause: String { description }

  /// The correction of the text.
  public var help: ErrorHelp {
    let advice =
      switch self {
      case .tooLong, .tooDeep: "Split the text into simpler conditions or expressions."
      case .formatArgument, .argumentCount: "Give as many arguments as the text has places for."
      case .argumentKind: "Pass an argument of the kind that its placeholder takes."
      case .reservedWord: "Put # before the name."
      case .unexpected, .unexpectedEnd, .unterminatedString, .invalidEscape, .invalidNumber, .unknownOption:
        "Correct the text at that place."
      }
    return ErrorHelp(.unchanged, advice)
  }
}

extension VersionHashError: ExplainedError {
  /// The description.
  public var cause: String { description }

  /// Advice on where to find complete hashes.
  public var help: ErrorHelp {
    ErrorHelp(.unchanged, "Take the hash from a store's metadata or from a model; a truncated hash is invalid.")
  }
}

extension MappingInferenceError: ExplainedError {
  /// The description.
  public var cause: String { description }

  /// The remedy of each obstacle.
  public var help: ErrorHelp { ErrorHelp(.unchanged, obstacles.map(\.suggestion).joined(separator: " ")) }

  /// The reason of each obstacle.
  public var reasons: [String] { obstacles.map(\.reason) }

  /// Core Data's code for a failed inference.
  public var coreDataCode: Int? { MappingObstacle.coreDataCode }
}
