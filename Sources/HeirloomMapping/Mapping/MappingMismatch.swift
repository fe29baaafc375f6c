public import HeirloomModel

/// A mismatch between a mapping model and the models it is to be used with.
public struct MappingMismatch: Hashable, Sendable {
  /// The name of the entity mapping.
  public let entityMapping: String
  package let problem: Problem

  package enum Problem: Hashable, Sendable {
    case duplicateName
    case noEntity
    case unknownSourceEntity(String)
    case unknownDestinationEntity(String)
    case sourceHash(entity: String, expected: VersionHash, found: VersionHash)
    case destinationHash(entity: String, expected: VersionHash, found: VersionHash)
    case unknownAttribute(entity: String, attribute: String)
    case unknownRelationship(entity: String, relationship: String)
    case malformedExpression(property: String, ExpressionError)
    case malformedCondition(text: String, ExpressionError)
    case unknownEntityMapping(property: String, entityMapping: String)
    case unknownSourceProperty(entity: String, property: String)
    case missingPolicy
  }
}

extension MappingMismatch {
  /// True when the mapping is invalid regardless of the models.
  package var isOfMappingAlone: Bool {
    switch problem {
    case .duplicateName, .noEntity, .missingPolicy, .malformedExpression, .malformedCondition, .unknownEntityMapping:
      true
    default: false
    }
  }
}

extension MappingMismatch: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let mapping = "The entity mapping \"\(entityMapping)\""
    return switch problem {
    case .duplicateName: "\(mapping) occurs twice; names of entity mappings must differ."
    case .noEntity: "\(mapping) names neither a source nor a destination entity; it needs at least one."
    case .unknownSourceEntity(let name): "\(mapping) reads the entity \"\(name)\", which the source model lacks."
    case .unknownDestinationEntity(let name):
      "\(mapping) makes the entity \"\(name)\", which the destination model lacks."
    case .sourceHash(let entity, let expected, let found):
      """
      \(mapping) was made for another version of the source entity "\(entity)": its hash is \(found.description.prefix(16))…, \
      expected \(expected.description.prefix(16))….
      """
    case .destinationHash(let entity, let expected, let found):
      """
      \(mapping) was made for another version of the destination entity "\(entity)": its hash is \
      \(found.description.prefix(16))…, expected \(expected.description.prefix(16))….
      """
    case .unknownAttribute(let entity, let attribute):
      "\(mapping) sets the attribute \"\(attribute)\", which the destination entity \"\(entity)\" lacks."
    case .unknownRelationship(let entity, let relationship):
      "\(mapping) sets the relationship \"\(relationship)\", which the destination entity \"\(entity)\" lacks."
    case .malformedExpression(let property, let error):
      "\(mapping) has a value for the property \"\(property)\" that is not an expression. \(error)"
    case .malformedCondition(let text, let error):
      "\(mapping) has the condition \"\(text)\", which is not a predicate. \(error)"
    case .unknownEntityMapping(let property, let name):
      "\(mapping) links \"\(property)\" to objects of the entity mapping \"\(name)\", which doesn't exist."
    case .unknownSourceProperty(let entity, let property):
      "\(mapping) reads the property \"\(property)\", which the source entity \"\(entity)\" lacks."
    case .missingPolicy: "\(mapping) is custom but names no policy; a custom mapping needs one."
    }
  }
}

extension MappingModel {
  /// Lists the mismatches between the mapping model and two models.
  ///
  /// A version hash that a mapping lacks is not compared.
  ///
  /// - Parameters:
  ///   - source: The source model.
  ///   - destination: The destination model.
  /// - Returns: The mismatches in the order of the entity mappings; none if the mapping model can be used.
  public func mismatches(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingMismatch] {
    mismatches(
      from: source, to: destination, sourceHashes: source.versionHashes(),
      destinationHashes: destination.versionHashes())
  }

  func mismatches(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, sourceHashes: [String: VersionHash],
    destinationHashes: [String: VersionHash]
  ) -> [MappingMismatch] {
    var names: Set<String> = []
    return entityMappings.flatMap { mapping in
      var problems: [MappingMismatch.Problem] = []
      if !names.insert(mapping.name).inserted { problems.append(.duplicateName) }
      if mapping.sourceEntityName == nil && mapping.destinationEntityName == nil { problems.append(.noEntity) }
      if mapping.mappingType == .custom && mapping.entityMigrationPolicyClassName == nil {
        problems.append(.missingPolicy)
      }
      if let name = mapping.sourceEntityName {
        if source.entity(named: name) == nil {
          problems.append(.unknownSourceEntity(name))
        } else if let expected = mapping.sourceEntityVersionHash, let found = sourceHashes[name], expected != found {
          problems.append(.sourceHash(entity: name, expected: expected, found: found))
        }
      }
      if let name = mapping.destinationEntityName {
        if destination.entity(named: name) == nil {
          problems.append(.unknownDestinationEntity(name))
        } else if let expected = mapping.destinationEntityVersionHash, let found = destinationHashes[name],
          expected != found
        {
          problems.append(.destinationHash(entity: name, expected: expected, found: found))
        }
      }
      problems += mapping.textProblems(among: Set(entityMappings.map(\.name)))
      problems += mapping.propertyProblems(from: source, to: destination)
      return problems.map { MappingMismatch(entityMapping: mapping.name, problem: $0) }
    }
  }
}

extension EntityMapping {
  fileprivate func textProblems(among names: Set<String>) -> [MappingMismatch.Problem] {
    var problems: [MappingMismatch.Problem] = []
    if let predicate = sourceExpression?.sourceRows?.predicate {
      do throws(ExpressionError) {
        _ = try PredicateDescription(parsing: predicate)
      } catch {
        problems.append(.malformedCondition(text: predicate, error))
      }
    }
    for mapping in attributeMappings + relationshipMappings {
      if case .unparsed(let text)? = mapping.valueExpression {
        do throws(ExpressionError) {
          _ = try ValueExpression(parsing: text)
        } catch {
          problems.append(.malformedExpression(property: mapping.name, error))
        }
      }
      if case .linksThroughMapping(let name, _) = mapping.form, !names.contains(name) {
        problems.append(.unknownEntityMapping(property: mapping.name, entityMapping: name))
      }
    }
    return problems
  }

  fileprivate func propertyProblems(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> [MappingMismatch.Problem] {
    var problems: [MappingMismatch.Problem] = []
    if let entity = destinationEntityName, destination.entity(named: entity) != nil {
      for mapping in attributeMappings where destination.attributeTarget(mapping.name, of: entity) == nil {
        problems.append(.unknownAttribute(entity: entity, attribute: mapping.name))
      }
      for name in openProperties?.attributes ?? [] where destination.attribute(named: name, of: entity) == nil {
        problems.append(.unknownAttribute(entity: entity, attribute: name))
      }
      let links = relationshipMappings.map(\.name) + (openProperties?.relationships ?? [])
      for name in links where destination.relationship(named: name, of: entity) == nil {
        problems.append(.unknownRelationship(entity: entity, relationship: name))
      }
    }
    guard let entity = sourceEntityName, source.entity(named: entity) != nil else { return problems }
    for mapping in attributeMappings + relationshipMappings {
      switch mapping.form {
      case .attribute(let name) where source.declaringEntity(ofProperty: name, in: entity) == nil,
        .filledAttribute(let name, _) where source.declaringEntity(ofProperty: name, in: entity) == nil,
        .steppedAttribute(let name, _) where source.declaringEntity(ofProperty: name, in: entity) == nil,
        .links(let name) where source.relationship(named: name, of: entity) == nil,
        .linksThroughMapping(_, let name) where source.relationship(named: name, of: entity) == nil:
        problems.append(.unknownSourceProperty(entity: entity, property: name))
      default: break
      }
    }
    return problems
  }
}
