/// An inconsistency in the parts of a model.
@nonexhaustive
public enum ModelError: Error, Hashable, Sendable {
  /// A name that is empty or not storable.
  case invalidName(String)
  /// Two entities of the same name.
  case duplicateEntity(String)
  /// An entity with different version hashes in the models to merge, and the names of these models.
  case unequalEntities(entity: String, models: [String])
  /// Two properties of the same name in an entity, or in it and an ancestor.
  case duplicateProperty(entity: String, property: String)
  /// An entity whose parent is not in the model.
  case missingSuperentity(entity: String, superentity: String)
  /// An entity that is its own ancestor.
  case inheritanceCycle(entity: String)
  /// A relationship whose destination is not in the model.
  case missingDestination(entity: String, relationship: String, destination: String)
  /// A uniqueness constraint on something other than a stored attribute or to-one relationship of the entity.
  case missingConstraintProperty(entity: String, property: String)
  /// An index on something that is not a property of the entity.
  case missingIndexProperty(entity: String, index: String, property: String)
  /// A configuration with an entity that is not in the model.
  case missingConfigurationEntity(configuration: String, entity: String)
  /// An attribute of type Composite without elements, or another attribute with elements.
  case invalidComposite(entity: String, attribute: String)
  /// Two elements of the same name in a composite attribute; a nested one is written `composite.element`.
  case duplicateElement(entity: String, attribute: String, element: String)
  /// A composite attribute that is nested more deeply than `CompositeAttributeDescription.depthLimit`.
  case nestedTooDeeply(entity: String, attribute: String)
  /// An attribute of type Undefined that is not transient.
  case undefinedType(entity: String, attribute: String)
}

extension ModelError: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .invalidName(let name):
      "\"\(name.prefix(80))\" is not a name: expected 1 to 255 characters without control characters."
    case .duplicateEntity(let name):
      "The model has two entities named \"\(name)\"; entity names must differ."
    case .unequalEntities(let entity, let models):
      "The models \(models.map { "\"\($0)\"" }.joined(separator: ", ")) can't be merged: their entities \"\(entity)\" have"
        + " different version hashes."
    case .duplicateProperty(let entity, let property):
      "Entity \"\(entity)\" has the property \"\(property)\" twice, counting inherited ones; property names must differ."
    case .missingSuperentity(let entity, let superentity):
      "The parent \"\(superentity)\" of entity \"\(entity)\" is not in the model."
    case .inheritanceCycle(let entity):
      "Entity \"\(entity)\" is its own ancestor; a chain of parents must end at a root."
    case .missingDestination(let entity, let relationship, let destination):
      "The destination \"\(destination)\" of relationship \"\(entity).\(relationship)\" is not in the model."
    case .missingConstraintProperty(let entity, let property):
      "A uniqueness constraint of entity \"\(entity)\" names \"\(property)\", which is not a stored property of it."
    case .missingIndexProperty(let entity, let index, let property):
      "The index \"\(index)\" of entity \"\(entity)\" names \"\(property)\", which is not a property of it."
    case .missingConfigurationEntity(let configuration, let entity):
      "The configuration \"\(configuration)\" names the entity \"\(entity)\", which is not in the model."
    case .invalidComposite(let entity, let attribute):
      "The attribute \"\(entity).\(attribute)\" must have elements if, and only if, its type is Composite."
    case .duplicateElement(let entity, let attribute, let element):
      "The composite attribute \"\(entity).\(attribute)\" has the element \"\(element)\" twice; names of elements must differ."
    case .nestedTooDeeply(let entity, let attribute):
      """
      The composite attribute "\(entity).\(attribute)" is nested more than \
      \(CompositeAttributeDescription.depthLimit) levels deep.
      """
    case .undefinedType(let entity, let attribute):
      "The attribute \"\(entity).\(attribute)\" is stored but has no type; only a transient attribute may lack one."
    }
  }
}
