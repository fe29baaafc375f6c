/// An attribute of an entity, or an element of a composite attribute.
public struct AttributeDescription: PropertyDescription {
  /// The attribute's name.
  public var name: String
  /// The type of its values.
  public var type: AttributeType
  /// True when an object is valid without a value.
  public var isOptional: Bool = false
  /// True when the value is only in memory and has no column.
  public var isTransient: Bool = false
  /// The value of a new object, of the attribute's type.
  public var defaultValue: AttributeValue?
  /// The identifier that matches this attribute with one of another version, if it is not the name.
  public var renamingIdentifier: String?
  /// Text that changes the version hash on purpose.
  public var versionHashModifier: String?
  /// True when large values may be stored in files beside the store.
  public var allowsExternalBinaryDataStorage: Bool = false
  /// True when persistent history preserves the value of a deleted object.
  public var preservesValueInHistoryOnDeletion: Bool = false
  /// True when the value is encrypted in CloudKit.
  public var allowsCloudEncryption: Bool = false
  /// True when Spotlight indexes the attribute.
  public var isIndexedBySpotlight: Bool = false
  /// True when the value was also written to an external record (a Spotlight-era feature).
  public var isStoredInExternalRecord: Bool = false
  /// The class of the values, where the model names one.
  public var attributeValueClassName: String?
  /// The name of the value transformer of a transformable attribute.
  public var valueTransformerName: String?
  /// Conditions on the value, checked when an object is saved.
  public var validationRules: [ValidationRule] = []
  /// The computation of a derived attribute; `nil` for an ordinary one.
  public var derivation: DerivedAttributeDescription?
  /// The elements of a composite attribute; `nil` for any other type.
  public var composite: CompositeAttributeDescription?
  /// True when generated code uses a scalar type.
  ///
  /// Only model sources contain it; it is `nil` otherwise.
  public var usesScalarValueType: Bool?
  /// Free text for the app.
  public var userInfo: [String: String] = [:]

  /// Creates a required attribute without a default.
  public init(name: String, type: AttributeType) {
    self.name = name
    self.type = type
  }
}

/// The computation of a derived attribute.
public struct DerivedAttributeDescription: Hashable, Sendable {
  /// The expression whose value the attribute holds.
  public var derivationExpression: ValueExpression
  /// The condition that related objects must meet to be counted.
  public var filteringPredicate: PredicateDescription?

  /// Creates a derivation.
  public init(derivationExpression: ValueExpression, filteringPredicate: PredicateDescription? = nil) {
    self.derivationExpression = derivationExpression
    self.filteringPredicate = filteringPredicate
  }

  /// True for `now()`, the time of an object's last change, which can't be computed from other values.
  package var isTimeOfChange: Bool {
    guard case .function(_, let selector, let arguments) = derivationExpression.compiled else { return false }
    return arguments.isEmpty && (selector == "now" || selector == "now:")
  }
}

extension AttributeDescription {
  /// True unless the attribute's values are computed from others in the store.
  package var hasOwnValues: Bool { derivation?.isTimeOfChange ?? true }

  package func isDerived(as other: AttributeDescription) -> Bool {
    derivation != nil && derivation == other.derivation && type == other.type
      && canonicalIdentifier == other.canonicalIdentifier && !isTransient && !other.isTransient
  }
}

/// The elements of a composite attribute.
public struct CompositeAttributeDescription: Hashable, Sendable {
  /// The maximum nesting of composites.
  public static let depthLimit: Int = 16

  /// The name of the composite type in the model source; archives don't contain it.
  public var name: String?
  /// The elements in declared order: attributes, or composites again.
  public var elements: [AttributeDescription]

  /// Creates a composite.
  public init(name: String? = nil, elements: [AttributeDescription]) {
    self.name = name
    self.elements = elements
  }
}

extension AttributeDescription {
  /// An empty path is the attribute itself.
  package func element(atPath path: some Sequence<String>) -> AttributeDescription? {
    var found = self
    for name in path {
      guard let element = found.composite?.elements.first(where: { $0.name == name }) else { return nil }
      found = element
    }
    return found
  }

  /// The attributes with a column: the attribute itself, or the leaves of a composite in element order.
  ///
  /// Transient attributes have none.
  public var storedLeaves: [AttributeDescription] {
    guard !isTransient else { return [] }
    guard let composite else { return [self] }
    return composite.elements.flatMap(\.storedLeaves)
  }
}

/// A condition on a property's value, with the warning for a value that does not meet it.
public struct ValidationRule: Hashable, Sendable {
  /// The condition; `SELF` is the property's value.
  public var predicate: PredicateDescription
  /// The warning that a failed condition reports.
  public var warning: Warning?

  /// The code or text that a failed condition reports.
  public enum Warning: Hashable, Sendable {
    /// A validation error code, such as 1620 for a number that is too small.
    case code(Int)
    /// A text or an error domain.
    case message(String)
  }

  /// Creates a rule.
  public init(predicate: PredicateDescription, warning: Warning? = nil) {
    self.predicate = predicate
    self.warning = warning
  }
}
