import HeirloomModel

/// A part of a model's file that was not understood, or should be corrected.
package struct ModelReadingWarning: Hashable, Sendable {
  package var kind: Kind
  /// Such as `Person.name`.
  package let owner: String
  /// From 1; `nil` if the file isn't text.
  package let line: Int?

  package enum Kind: Hashable, Sendable {
    case unknownElement(String, nearest: String? = nil)
    case unknownAttribute(String, nearest: String? = nil)
    case unknownClass(String)
    case unknownKey(String)
    case invalidValue(String, of: String)
    case oneSidedInverse(String)
    case differingCopy(of: String)
    case unparsedExpression(String)
    case unusedEntityMapping
    case unusedPropertyMapping
    case missingExpression
    case undefinedEntityMapping
    case emptyEntityMapping
    case copyOfDifferingEntities
  }

  package init(_ kind: Kind, place owner: String, line: Int? = nil) {
    (self.kind, self.owner, self.line) = (kind, owner, line)
  }

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
  package var isOneSidedInverse: Bool {
    if case .oneSidedInverse = kind { true } else { false }
  }
}

extension ModelReadingWarning: CustomStringConvertible {
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
