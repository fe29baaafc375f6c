import HeirloomMapping
import HeirloomModel
import HeirloomStore

// Links from objects whose own mapping ran as SQL to objects that are made object by object.
extension MigrationManager {
  /// A relationship of the destination whose links refer to objects that are made object by object.
  private final class LateLinks {
    let mapping: EntityMapping
    let property: PropertyMapping
    /// The name of the relationship in the source.
    let name: String
    let relationship: RelationshipDescription
    let source: PhysicalEntity
    let destination: PhysicalEntity
    /// The query for the keys of source objects with such links.
    let owners: String
    /// The number that is added to a source key.
    let offset: Int64

    init(
      mapping: EntityMapping, property: PropertyMapping, name: String, relationship: RelationshipDescription,
      source: PhysicalEntity, destination: PhysicalEntity, owners: String, offset: Int64
    ) {
      (self.mapping, self.property, self.name, self.relationship) = (mapping, property, name, relationship)
      (self.source, self.destination, self.owners, self.offset) = (source, destination, owners, offset)
    }
  }

  func relateLateLinks() throws {
    for links in lateLinks(reaching: { self.associations.hasObjects(of: $0, mapping: $1) }) {
      currentEntityMapping = links.mapping
      // Links of merged objects are added after those of the object that they were merged into.
      let isSettled = associations.hasRemovals(ofEntity: links.destination.number)
      for isMerged in isSettled ? [false, true] : [false] {
        try relate(links, keepingOthers: isSettled, ofMerged: isMerged)
      }
    }
  }

  private func relate(_ links: LateLinks, keepingOthers keepsOthers: Bool, ofMerged isMerged: Bool) throws {
    let owners = try setting.connection.prepare("\(links.owners) ORDER BY 1")
    while try owners.step() {
      guard
        let owner = try sourceContext.object(numbered: links.source.number, primaryKey: owners.integer(at: 0)),
        let object = try destinations(of: [owner], mappings: [links.mapping.name]).first,
        isMerged == (object.key != owner.key + links.offset)
      else { continue }
      let related = try owner.relatedObjects(byRelationship: links.name)
      var found: [ManagedObject]
      if case .linksThroughMapping(let through, _) = links.property.form {
        found = try destinationInstances(forEntityMappingNamed: through, sourceInstances: related)
      } else {
        found = try destinationInstances(forSourceRelationshipNamed: links.name, sourceInstances: related)
      }
      let relationship = links.relationship
      if keepsOthers, relationship.isToMany {
        found = try object.relatedObjects(byRelationship: relationship.name) + found
      } else if isMerged, try !object.relatedObjects(byRelationship: relationship.name).isEmpty {
        continue
      }
      try withoutEdits { try set(relationship, of: object, to: found) }
      try destinationContext.writePendingChanges()
    }
  }

  /// Throws if an object lacks a required link to an object made by code, though its source object has the link.
  func validateLateLinks() throws {
    for links in lateLinks(reaching: { _, _ in true }) {
      guard !links.relationship.isToMany, !links.relationship.isOptional,
        case .key(_, let column, _)? = setting.destination.storage(
          ofRelationship: links.relationship.name, in: links.destination.name)
      else { continue }
      currentEntityMapping = links.mapping
      let key = quote(PhysicalName.primaryKey)
      // Objects of a mapping that ran as SQL have their source's key plus the offset.
      let found = try setting.connection.firstInteger(
        "SELECT c.\(key) FROM \(quote(SchemaName.candidate)).\(quote(links.destination.table)) AS c"
          + " WHERE c.\(quote(PhysicalName.entity)) = \(links.destination.number) AND c.\(quote(column)) IS NULL"
          + " AND c.\(key) - \(links.offset) IN (\(links.owners)) LIMIT 1")
      guard let found else { continue }
      throw EntityMappingFailure(
        mapping: links.mapping.name, hook: .createRelationships, entity: links.destination.name,
        object: ManagedObjectID(
          storeIdentifier: setting.destinationStore.metadata.identifier, entityName: links.destination.name,
          primaryKey: found),
        underlying: MigrationManagerError.missingValue(
          entity: links.destination.name, property: links.relationship.name, primaryKey: found))
    }
  }

  /// `isReached` returns true if a mapping is known to have made objects of a tree's entities: a
  /// policy may make objects of any entity, so only its results count.
  private func lateLinks(
    reaching isReached: (_ entities: ClosedRange<Int>, _ mapping: String) -> Bool
  ) -> [LateLinks] {
    let made = Dictionary(grouping: setting.split.byRow) { $0.sourceEntityName }
    var found: [LateLinks] = []
    for mapping in setting.split.declarative.entityMappings {
      guard let source = mapping.sourceEntityName.flatMap({ setting.source.entity(named: $0) }),
        let destination = mapping.destinationEntityName.flatMap({ setting.destination.entity(named: $0) })
      else { continue }
      for property in mapping.relationshipMappings {
        guard let name = property.sourceRelationshipName,
          let before = sourceModel.relationship(named: name, of: source.name),
          let relationship = destinationModel.relationship(named: property.name, of: destination.name),
          !relationship.isTransient,
          let target = setting.destination.entity(named: relationship.destinationEntity)
        else { continue }
        let targets = sourceModel.entityTree(from: before.destinationEntity).filter { entity in
          made[entity.name]?.contains { isReached(target.treeNumbers, $0.name) } ?? false
        }
        guard let owners = owners(of: name, source, leadingTo: targets.map(\.name)) else { continue }
        found.append(
          LateLinks(
            mapping: mapping, property: property, name: name, relationship: relationship, source: source,
            destination: destination, owners: owners,
            offset: setting.keys.offset(from: source.rootName, to: destination.rootName)))
      }
    }
    return found
  }

  private func owners(of name: String, _ source: PhysicalEntity, leadingTo targets: [String]) -> String? {
    guard let table = targets.first.flatMap({ setting.source.table(ofEntity: $0)?.name }),
      let links = setting.source.links(of: name, in: source.name, isReversed: false)
    else { return nil }
    let numbers = targets.compactMap { setting.source.entity(named: $0)?.number }.map(String.init)
    let (key, number) = (quote(PhysicalName.primaryKey), quote(PhysicalName.entity))
    // All links of an owner are set at once, so it is selected once. Other entities may share the relationship, so the
    // entities of both ends are compared.
    return "SELECT DISTINCT k.owner FROM (\(links.sql)) AS k"
      + " JOIN \(SchemaName.rows(of: source.table, as: "o")) ON o.\(key) = k.owner AND o.\(number) = \(source.number)"
      + " JOIN \(SchemaName.rows(of: table, as: "t")) ON t.\(key) = k.target AND t.\(number) IN"
      + " (\(numbers.joined(separator: ", ")))"
  }
}
