/// A fetch index of an entity.
///
/// Old models mark attributes as indexed and list compound indexes. Readers turn both into fetch indexes with Core
/// Data's names: the attribute's, or all attributes' joined by `_`.
public struct FetchIndexDescription: Hashable, Sendable {
  /// The index's name, unique within its entity.
  public var name: String
  /// The elements of the index, in order.
  public var elements: [FetchIndexElementDescription]
  /// The condition on the indexed objects; `nil` for all.
  public var partialIndexPredicate: PredicateDescription?

  /// Creates an index of all objects.
  public init(
    name: String, elements: [FetchIndexElementDescription], partialIndexPredicate: PredicateDescription? = nil
  ) {
    self.name = name
    self.elements = elements
    self.partialIndexPredicate = partialIndexPredicate
  }
}

/// One element of a fetch index.
public struct FetchIndexElementDescription: Hashable, Sendable {
  /// The property or expression that the element indexes.
  public var subject: Subject
  /// The kind of index for the element.
  public var collation: Collation
  /// True when smaller values come first.
  public var isAscending: Bool

  /// The subject of an index element.
  public enum Subject: Hashable, Sendable {
    /// A property by name.
    case property(String)
    /// The value of an expression of the given type.
    case expression(ValueExpression, AttributeType)
  }

  /// The kind of index for an element.
  ///
  /// Raw values are the codes of model archives.
  public enum Collation: Int, Hashable, Sendable {
    /// An index by value.
    case binary = 0
    /// A coordinate of an R-tree.
    case rTree = 1
  }

  /// Creates an element.
  public init(subject: Subject, collation: Collation = .binary, isAscending: Bool = true) {
    self.subject = subject
    self.collation = collation
    self.isAscending = isAscending
  }

  /// Creates an element that indexes a property by value, smaller values first.
  public init(property: String) {
    self.init(subject: .property(property))
  }
}
