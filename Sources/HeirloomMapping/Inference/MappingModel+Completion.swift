public import HeirloomModel

extension MappingModel {
  /// Fills in the parts that the entity mappings omit.
  ///
  /// - An undefined type is derived from the entities: added, removed, custom with a policy, copied if nothing changed.
  /// - Omitted attribute and relationship mappings are inferred by canonical identifier. A property mapping without an
  ///   expression means the default and stays.
  /// - For a mapping that is read from a file, only the properties in `openProperties` are inferred, by name before
  ///   identifier, as Xcode's compiler does; the others get the default, or no links.
  /// - Missing version hashes and source expressions are filled in.
  ///
  /// Entity mappings that name an unknown entity stay as they are: ``mismatches(from:to:)`` lists them.
  ///
  /// - Parameters:
  ///   - source: The source model.
  ///   - destination: The destination model.
  /// - Returns: The same entity mappings in the same order.
  public func completed(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> MappingModel {
    let completion = MappingCompletion(ModelCorrespondence(from: source, to: destination))
    return MappingModel(entityMappings: entityMappings.map(completion.complete))
  }
}

struct MappingCompletion {
  let correspondence: ModelCorrespondence
  let sourceHashes: [String: VersionHash]
  let destinationHashes: [String: VersionHash]

  init(_ correspondence: ModelCorrespondence) {
    self.correspondence = correspondence
    sourceHashes = correspondence.source.versionHashes()
    destinationHashes = correspondence.destination.versionHashes()
  }

  func complete(_ mapping: EntityMapping) -> EntityMapping {
    var mapping = mapping
    let source = mapping.sourceEntityName.flatMap { correspondence.source.entity(named: $0) }
    let destination = mapping.destinationEntityName.flatMap { correspondence.destination.entity(named: $0) }
    guard (source == nil) == (mapping.sourceEntityName == nil),
      (destination == nil) == (mapping.destinationEntityName == nil)
    else { return mapping }
    if mapping.sourceEntityVersionHash == nil {
      mapping.sourceEntityVersionHash = source.flatMap { sourceHashes[$0.name] }
    }
    if mapping.destinationEntityVersionHash == nil {
      mapping.destinationEntityVersionHash = destination.flatMap { destinationHashes[$0.name] }
    }
    if let destination {
      mapping = mapping.sorted(for: destination, in: correspondence.destination)
      let properties = inferredProperties(from: source, to: destination, open: mapping.openProperties)
      mapping.attributeMappings = Self.fill(mapping.attributeMappings, from: properties.attributes)
      mapping.relationshipMappings = Self.fill(mapping.relationshipMappings, from: properties.relationships)
      // Open properties that the destination lacks stay, so that they are reported as mismatches.
      mapping.openProperties?.attributes.removeAll {
        correspondence.destination.attribute(named: $0, of: destination.name) != nil
      }
      mapping.openProperties?.relationships.removeAll {
        correspondence.destination.relationship(named: $0, of: destination.name) != nil
      }
      if let source, mapping.sourceExpression == nil {
        mapping.sourceExpression = .sourceRows(ofEntity: source.name)
      }
    }
    if mapping.mappingType == .undefined { mapping.mappingType = type(of: mapping, from: source, to: destination) }
    return mapping
  }

  /// For a file, only open properties are inferred, by name before renaming identifier.
  private func inferredProperties(
    from source: EntityDescription?, to destination: EntityDescription, open: EntityMapping.OpenProperties?
  ) -> (attributes: [PropertyMapping], relationships: [PropertyMapping]) {
    let pair = source.map { correspondence.pair(from: $0, to: destination) }
    func origin(of name: String, by matched: String?, isThere: (String, String) -> Bool) -> String? {
      guard let open else { return matched }
      guard open.contain(name), let source else { return nil }
      return isThere(name, source.name) ? name : matched
    }
    let attributes = correspondence.destination.attributes(of: destination.name).map { attribute in
      let name = origin(of: attribute.name, by: pair?.attributes[attribute.name]) {
        correspondence.source.attribute(named: $0, of: $1) != nil
      }
      let origin = name.flatMap { name in
        pair.flatMap { correspondence.source.attribute(named: name, of: $0.source.name) }
      }
      guard let origin, origin.carriesValues(to: attribute) else { return PropertyMapping(name: attribute.name) }
      return PropertyMapping(name: attribute.name, copying: origin.name)
    }
    let relationships = correspondence.destination.relationships(of: destination.name).compactMap {
      (relationship) -> PropertyMapping? in
      let name = origin(of: relationship.name, by: pair?.relationships[relationship.name]) {
        correspondence.source.relationship(named: $0, of: $1) != nil
      }
      guard !relationship.isTransient, let source, let name,
        let origin = correspondence.source.relationship(named: name, of: source.name), !origin.isTransient
      else { return nil }
      return PropertyMapping(name: relationship.name, linksOf: name)
    }
    return (attributes, relationships)
  }

  private static func fill(_ given: [PropertyMapping], from inferred: [PropertyMapping]) -> [PropertyMapping] {
    let names = Set(given.map(\.name))
    return (given + inferred.filter { !names.contains($0.name) }).ordered(by: \.name)
  }

  private func type(
    of mapping: EntityMapping, from source: EntityDescription?, to destination: EntityDescription?
  ) -> EntityMapping.MappingType {
    guard mapping.entityMigrationPolicyClassName == nil else { return .custom }
    guard let source else { return .add }
    guard let destination else { return .remove }
    return isCopy(mapping, from: source, to: destination) ? .copy : .transform
  }

  /// Equal hashes don't cover renaming identifiers, nor names of derived and composite attributes.
  private func isCopy(
    _ mapping: EntityMapping, from source: EntityDescription, to destination: EntityDescription
  ) -> Bool {
    guard sourceHashes[source.name] == destinationHashes[destination.name],
      mapping.sourceExpression == .sourceRows(ofEntity: source.name)
    else { return false }
    let attributes = correspondence.destination.attributes(of: destination.name)
    // Any surplus mapping is for an element of a composite.
    guard mapping.attributeMappings.count == attributes.count else { return false }
    return attributes.allSatisfy { attribute in
      attribute.isTransient || attribute.derivation != nil
        || mapping.attributeMapping(named: attribute.name)?.form == .attribute(attribute.name)
    }
      && correspondence.destination.relationships(of: destination.name).allSatisfy { relationship in
        relationship.isTransient
          || mapping.relationshipMapping(named: relationship.name)?.form == .links(relationship: relationship.name)
      }
  }
}

extension AttributeDescription {
  /// True if copying or converting the stored values is enough.
  func carriesValues(to destination: AttributeDescription) -> Bool {
    guard !isTransient, !destination.isTransient, destination.derivation == nil else { return false }
    guard (composite == nil) == (destination.composite == nil) else { return false }
    return composite != nil || AttributeConversion(from: type, to: destination.type).isPossible
  }
}
