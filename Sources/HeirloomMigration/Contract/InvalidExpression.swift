public import HeirloomFormats
package import HeirloomModel

/// An expression of a mapping that can't be evaluated for any row.
public struct InvalidExpression: Error, Hashable, Sendable {
  /// The name of the entity mapping.
  public let mapping: String
  /// The destination entity.
  public let entity: String
  /// The destination property that the expression computes; `nil` for the condition on source objects.
  public let property: String?
  package let problem: Problem

  package init(mapping: String, entity: String, property: String?, problem: Problem) {
    self.mapping = mapping
    self.entity = entity
    self.property = property
    self.problem = problem
  }

  package enum Problem: Hashable, Sendable {
    case unknownProperty(entity: String, property: String, nearest: String?)
    /// An unknown function or variable, or a text that is not an expression.
    case evaluation(EvaluationError)
    case syntax(ExpressionError)
  }
}

extension InvalidExpression: ExplainedError {
  /// The place of the expression and its problem.
  public var cause: String {
    let place =
      property.map { "The expression for \"\(entity).\($0)\"" } ?? "The condition on source objects for \"\(entity)\""
    let reason =
      switch problem {
      case .unknownProperty(let entity, let property, let nearest):
        "Entity \"\(entity)\" has no property \"\(property.prefix(200))\"\(NameSuggestion.question(nearest))"
      case .evaluation(let error): error.description
      case .syntax(let error): error.description
      }
    return "\(place) in the entity mapping \"\(mapping)\" can't be evaluated: \(reason)"
  }

  /// The correction of the expression; evaluating it didn't change the store.
  public var help: ErrorHelp {
    ErrorHelp(.store(path: nil), "Correct the expression in the mapping, then try again.")
  }

  /// Core Data's code of a mapping that is missing or unusable.
  public var coreDataCode: Int? { 134_140 }
}
