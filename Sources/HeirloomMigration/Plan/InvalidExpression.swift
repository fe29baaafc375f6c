public import HeirloomModel

/// An expression of a mapping that has no value, whatever the row.
public struct InvalidExpression: Error, Hashable, Sendable {
  /// The name of the entity mapping.
  public let mapping: String
  /// The destination entity.
  public let entity: String
  /// The destination property that the expression gives; `nil` for the condition on source objects.
  public let property: String?
  /// What is wrong.
  public let problem: Problem

  /// Creates a description.
  package init(mapping: String, entity: String, property: String?, problem: Problem) {
    self.mapping = mapping
    self.entity = entity
    self.property = property
    self.problem = problem
  }

  /// What is wrong with an expression.
  @nonexhaustive
  public enum Problem: Hashable, Sendable {
    /// The source entity, or one that a path leads to, has no such property.
    case unknownProperty(entity: String, property: String)
    /// A function or variable is not known, or the text is no expression.
    case evaluation(EvaluationError)
    /// The condition on source objects can't be read.
    case syntax(ExpressionError)
  }
}

extension InvalidExpression: CustomStringConvertible {
  /// One sentence: where the expression stands and what is wrong.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let place =
      property.map { "The expression for \"\(entity).\($0)\"" } ?? "The condition on source objects for \"\(entity)\""
    let reason =
      switch problem {
      case .unknownProperty(let entity, let property):
        "Entity \"\(entity)\" has no property \"\(property.prefix(200))\"."
      case .evaluation(let error): error.description
      case .syntax(let error): error.description
      }
    return "\(place) in the entity mapping \"\(mapping)\" can have no value: \(reason)"
  }
}
