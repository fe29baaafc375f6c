/// A set of descriptions that makes no model.
@nonexhaustive
public enum ModelError: Error, Hashable, Sendable {
  /// An entity has no name, or one that no store can hold.
  case invalidName(String)
  /// Two entities have the same name.
  case duplicateEntity(String)
  /// An entity, or it and an ancestor, have two properties of the same name.
  case duplicateProperty(entity: String, property: String)
  /// The parent of an entity is not in the model.
  case missingSuperentity(entity: String, superentity: String)
  /// An entity is its own ancestor.
  case inheritanceCycle(entity: String)
  /// The destination of a relationship is not in the model.
  case missingDestination(entity: String, relationship: String, destination: String)
  /// A uniqueness constraint names something that is no stored attribute or to-one relationship of the entity.
  case missingConstraintProperty(entity: String, property: String)
  /// An index names something that is no property of the entity.
  case missingIndexProperty(entity: String, index: String, property: String)
  /// A configuration names an entity that is not in the model.
  case missingConfigurationEntity(configuration: String, entity: String)
  /// An attribute of type Composite has no elements, or another has some.
  case invalidComposite(entity: String, attribute: String)
  /// A composite attribute has two elements of the same name; one in another is `composite.element`.
  case duplicateElement(entity: String, attribute: String, element: String)
  /// A composite attribute holds composites on more levels than ``CompositeAttributeDescription/depthLimit``.
  case nestedTooDeeply(entity: String, attribute: String)
  /// An attribute of type Undefined is not transient.
  case undefinedType(entity: String, attribute: String)
}

extension ModelError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .invalidName(let name):
      "\"\(name.prefix(80))\" is not a name: expected 1 to 255 characters without control characters."
    case .duplicateEntity(let name):
      "The model has two entities named \"\(name)\"; entity names must differ."
    case .duplicateProperty(let entity, let property):
      "Entity \"\(entity)\" has the property \"\(property)\" twice, counting inherited ones; property names must differ."
    case .missingSuperentity(let entity, let superentity):
      "The parent \"\(superentity)\" of entity \"\(entity)\" is not in the model."
    case .inheritanceCycle(let entity):
      "Entity \"\(entity)\" is its own ancestor; a chain of parents must end at a root."
    case .missingDestination(let entity, let relationship, let destination):
      "The destination \"\(destination)\" of relationship \"\(entity).\(relationship)\" is not in the model."
    case .missingConstraintProperty(let entity, let property):
      "A uniqueness constraint of entity \"\(entity)\" names \"\(property)\", which is no property of it that is stored."
    case .missingIndexProperty(let entity, let index, let property):
      "The index \"\(index)\" of entity \"\(entity)\" names \"\(property)\", which is no property of it."
    case .missingConfigurationEntity(let configuration, let entity):
      "The configuration \"\(configuration)\" names the entity \"\(entity)\", which is not in the model."
    case .invalidComposite(let entity, let attribute):
      "The attribute \"\(entity).\(attribute)\" must have elements if, and only if, its type is Composite."
    case .duplicateElement(let entity, let attribute, let element):
      "The composite attribute \"\(entity).\(attribute)\" has the element \"\(element)\" twice; names of elements must differ."
    case .nestedTooDeeply(let entity, let attribute):
      """
      The composite attribute "\(entity).\(attribute)" holds composites on more than \
      \(CompositeAttributeDescription.depthLimit) levels.
      """
    case .undefinedType(let entity, let attribute):
      "The attribute \"\(entity).\(attribute)\" is stored but has no type; only a transient attribute may lack one."
    }
  }
}
