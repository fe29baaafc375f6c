public import HeirloomFormats
public import HeirloomModel

/// A request for objects of an entity, in an order.
public struct ObjectFetchRequest {
  /// The entity's name.
  public var entityName: String
  /// The condition that the objects meet; `nil` for all.
  public var predicate: PredicateDescription?
  /// The order of the objects, most important key first; the primary key breaks ties.
  ///
  /// A key path refers to an attribute, through to-one relationships. Objects without a value come first; texts are
  /// compared by their Unicode scalars.
  public var sortDescriptors: [SortDescription]
  /// The maximum number of objects; 0 for all.
  public var fetchLimit: Int
  /// The number of objects to skip.
  public var fetchOffset: Int
  /// The number of objects in a batch; 0 for no batches.
  ///
  /// With a batch size, a closure that receives the objects may save the context, because no statement is in the middle
  /// of its rows.
  public var fetchBatchSize: Int
  /// True to include objects of the entity's descendants.
  public var includesSubentities: Bool
  /// The values of variables in the predicate, by names without `$`.
  public var substitutionVariables: [String: EvaluatedValue]

  /// Creates a request for all objects of an entity, by primary key.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - predicate: The condition that the objects meet; `nil` for all.
  public init(_ entityName: String, predicate: PredicateDescription? = nil) {
    self.entityName = entityName
    self.predicate = predicate
    sortDescriptors = []
    fetchLimit = 0
    fetchOffset = 0
    fetchBatchSize = 0
    includesSubentities = true
    substitutionVariables = [:]
  }

  /// Creates a request for the objects that meet a condition.
  ///
  /// Arguments never become part of the text, so they can't change the condition.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - format: The condition, such as `author == %@ AND %K BEGINSWITH[cd] %@`.
  ///   - arguments: The values of `%@` (a value, list or object), `%K` (a key path), `%d` and `%f` (numbers), in order.
  /// - Throws: `ExpressionError` if the text is not a condition or an argument doesn't fit.
  public init(
    _ entityName: String, where format: String, _ arguments: (any FetchArgument)?...
  ) throws(ExpressionError) {
    self.init(entityName)
    let values = arguments.map { $0?.fetchArgument ?? .null }
    (predicate, substitutionVariables) = try PredicateDescription.parsed(format, arguments: values)
  }

  /// Creates a request from a template of a model.
  ///
  /// - Parameters:
  ///   - template: The template.
  ///   - variables: The values of its variables.
  public init(_ template: FetchRequestDescription, variables: [String: EvaluatedValue] = [:]) {
    self.init(template.entityName, predicate: template.predicate)
    sortDescriptors = template.sortDescriptors
    fetchLimit = template.fetchLimit
    fetchOffset = template.fetchOffset
    fetchBatchSize = template.fetchBatchSize
    includesSubentities = template.includesSubentities
    substitutionVariables = variables
  }
}

/// The reason why a fetch can't be carried out.
@nonexhaustive
public enum FetchError: Error, Sendable {
  /// An entity name that the model, or its configuration, doesn't have, and the most similar one that it has.
  case unknownEntity(String, nearest: String?)
  /// A property in the condition or order that the entity doesn't have, and the most similar one that it has.
  case unknownProperty(entity: String, property: String, nearest: String?)
  /// A function, variable or comparison of the condition that is unknown, or has no value for some object.
  case condition(entity: String, EvaluationError)
  /// A sort key without an order: an object, a list, a transient attribute, or one whose values are in external files.
  case unsortable(entity: String, keyPath: String)
  /// An object of the condition's arguments that belongs to another context.
  case otherContext(entity: String)
  /// A failure of the app's own function in a condition.
  case functionFailed(entity: String, underlying: any Error)
  /// Objects that can't be read.
  case object(ManagedObjectError)
}

extension FetchError: ExplainedError {
  /// The fetch, with what was found or expected.
  public var cause: String {
    switch self {
    case .unknownEntity(let entity, let nearest):
      "The store holds no objects of an entity \"\(entity.prefix(200))\"\(NameSuggestion.question(nearest))"
    case .unknownProperty(let entity, let property, let nearest):
      "The fetch refers to \"\(property.prefix(200))\", which is not a property of \"\(entity)\""
        + NameSuggestion.question(nearest)
    case .condition(let entity, let error): "The condition of the fetch of \"\(entity)\" can't be evaluated: \(error)"
    case .unsortable(let entity, let keyPath):
      "The fetch of \"\(entity)\" can't be sorted by \"\(keyPath.prefix(200))\"; expected a path to a stored value."
    case .otherContext(let entity):
      "The fetch's condition has an object of entity \"\(entity)\" of another context; expected one of the same."
    case .functionFailed(let entity, let error):
      "A function in the condition of a fetch of \"\(entity)\" failed: \(ErrorWords.sentence(of: error))"
    case .object(let error): error.cause
    }
  }

  /// The correction of the request; no fetch changes the store.
  public var help: ErrorHelp {
    switch self {
    case .unknownEntity, .unknownProperty, .unsortable, .otherContext:
      ErrorHelp(.unchanged, "This is a mistake in the calling code or its model.")
    case .condition:
      ErrorHelp(.unchanged, "Correct the condition, or provide the function or variable that it uses.")
    case .functionFailed: ErrorHelp(.unchanged, "Correct the function, then fetch again.")
    case .object(let error): error.help
    }
  }

  /// The error of the condition, the function or the object.
  public var underlyingError: (any Error)? {
    switch self {
    case .condition(_, let error): error
    case .functionFailed(_, let error): error
    case .object(let error): error
    case .unknownEntity, .unknownProperty, .unsortable, .otherContext: nil
    }
  }

  /// The code of the object's error; Core Data raises an exception for the others.
  public var coreDataCode: Int? {
    guard case .object(let error) = self else { return nil }
    return error.coreDataCode
  }
}
