import HeirloomModel

/// A part of a model's file that was not understood and is not in the model.
package struct ModelReadingWarning: Hashable, Sendable {
  /// The kind of problem.
  package var kind: Kind
  /// The description that contains it, such as `Person.name`.
  package let owner: String
  /// The line that contains it, from 1; `nil` if the file isn't text.
  package let line: Int?

  /// The kind of problem.
  package enum Kind: Hashable, Sendable {
    /// An XML element with an unknown name; `nearest` is a similar known name.
    case unknownElement(String, nearest: String? = nil)
    /// An XML attribute with an unknown name; `nearest` is a similar known name.
    case unknownAttribute(String, nearest: String? = nil)
    /// An archived object of an unknown class.
    case unknownClass(String)
    /// An unknown key of an archived object.
    case unknownKey(String)
    /// An invalid value.
    case invalidValue(String, of: String)
    /// A relationship whose inverse doesn't name it as its inverse.
    case oneSidedInverse(String)
    /// An inherited property that an archive repeats differently.
    case differingCopy(of: String)
    /// An expression or predicate that could not be parsed; it is kept as text.
    case unparsedExpression(String)
    /// An entity mapping that belongs to no mapping model.
    case unusedEntityMapping
    /// A property mapping that no entity mapping lists.
    case unusedPropertyMapping
    /// A property mapping without an expression, none of which is to be generated.
    case missingExpression
    /// An entity mapping of a compiled mapping model whose type is undefined.
    case undefinedEntityMapping
    /// An entity mapping without entities and content.
    case emptyEntityMapping
    /// An entity mapping of type "copy" whose entities have different version hashes.
    case copyOfDifferingEntities
  }

  /// Creates a warning.
  package init(_ kind: Kind, place owner: String, line: Int? = nil) {
    (self.kind, self.owner, self.line) = (kind, owner, line)
  }

  /// The location, such as `Person.name, line 12`.
  package var place: String { line.map { "\(owner), line \($0)" } ?? owner }

  /// True for a fault in an editable text file: its content is missing from the model.
  package var isFault: Bool {
    switch kind {
    case .unparsedExpression, .oneSidedInverse: false
    default: line != nil
    }
  }
}

extension ModelReadingWarning {
  /// True for a relationship whose inverse doesn't name it as its inverse.
  package var isOneSidedInverse: Bool {
    if case .oneSidedInverse = kind { true } else { false }
  }
}

extension ModelReadingWarning: CustomStringConvertible {
  /// One sentence with the problem, its location, and how it was handled.
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch kind {
    case .unknownElement(let name, let nearest):
      "The element <\(name)> of \(place) is unknown and was left out\(nearest.map { "; did you mean <\($0)>?" } ?? ".")"
    case .unknownAttribute(let name, let nearest):
      "The XML attribute \"\(name)\" of \(place) is unknown and was left out\(NameSuggestion.question(nearest))"
    case .unknownClass(let name):
      "The class \"\(name)\" of an object in \(place) is unknown; its additions to known classes were left out."
    case .unknownKey(let name): "The key \"\(name)\" of \(place) is unknown and was left out."
    case .invalidValue(let value, let name):
      "The value \"\(value.prefix(80))\" of \"\(name)\" in \(place) doesn't fit and was left out."
    case .oneSidedInverse(let inverse):
      "The inverse of \(place), \(inverse), doesn't name it as its inverse: a store has two independent relationships,"
        + " and setting one doesn't change the other."
    case .differingCopy(let entity):
      "\(place) differs from the property that it inherits from \(entity); the inherited one is used."
    case .unparsedExpression(let text): "The expression \"\(text.prefix(200))\" of \(place) is kept as text only."
    case .unusedEntityMapping:
      "The entity mapping \(place) is in the file but belongs to no mapping model, and was left out."
    case .unusedPropertyMapping:
      "The property mapping \(place) is in the file but belongs to no entity mapping, and was left out."
    case .missingExpression:
      "The property mapping \(place) has no expression, and generation is turned off for it; the property gets its"
        + " default, or no links."
    case .undefinedEntityMapping:
      "The type of the entity mapping \(place) is undefined; it is derived from the entities."
    case .emptyEntityMapping:
      "The entity mapping \(place) names neither a source nor a destination entity, and was left out."
    case .copyOfDifferingEntities:
      "The entity mapping \(place) is marked as a copy, but its entities differ; it is treated as a transformation."
    }
  }
}
