public import HeirloomMapping
import HeirloomModel
public import HeirloomStore

// The work of the standard policy.
extension MigrationManager {
  /// Makes the destination object of a source object, sets its attributes by the mappings and associates both.
  ///
  /// A policy calls it for the part of its work that the mappings describe. The object has the source object's key if
  /// no other mapping takes objects of the same entity, so outside references to it stay valid.
  ///
  /// - Parameters:
  ///   - source: The source object.
  ///   - mapping: The entity mapping.
  /// - Returns: The destination object.
  /// - Throws: An error of an expression, a value or the stores.
  public func createDestinationInstance(
    forSource source: ManagedObject, in mapping: EntityMapping
  ) throws -> ManagedObject {
    guard let run = run(of: mapping), let entity = mapping.destinationEntityName else {
      throw MigrationManagerError.unknownEntityMapping(
        mapping.name, known: setting.split.byRow.filter { $0.destinationEntityName != nil }.map(\.name))
    }
    account?.note(source, in: \.made, of: run)
    let destination = try withoutEdits { try makeDestination(of: source, entity, run) }
    account?.note(product: destination, in: \.products, of: run)
    try associate(source: source, destination: destination, for: mapping)
    return destination
  }

  private func makeDestination(of source: ManagedObject, _ entity: String, _ run: RowMapping) throws -> ManagedObject {
    let sourceKey = source.objectID?.primaryKey
    // A source object from which two are made gives its key to the first.
    let isFirst = run.lastKeptKey != sourceKey
    run.lastKeptKey = sourceKey
    let destination = try destinationContext.insert(
      entity, preferredKey: run.keepsKeys && isFirst ? sourceKey : nil)
    if run.values != nil, let sourceKey { try copyValues(ofKey: sourceKey, to: destination, run) }
    if !run.evaluated.isEmpty {
      for (property, target) in run.evaluated {
        let value = try evaluate(property, from: source, to: destination, run)
        try destination.setValue(value.fitted(to: target.description), forAttribute: target.name)
      }
    }
    return destination
  }

  private func copyValues(ofKey key: Int64, to destination: ManagedObject, _ run: RowMapping) throws {
    defer { run.values?.reset() }
    try run.values?.bind(key, at: 1)
    guard try run.values?.step() == true else { return }
    if case .integer(let place)? = run.values?.value(at: run.columns.count) {
      throw unfitValue(inColumn: run.columns[Int(clamping: place)], run)
    }
    for (position, column) in run.columns.enumerated() {
      run.values?.giveValue(at: position, to: destination, inColumn: column)
    }
  }

  private func unfitValue(inColumn name: String, _ run: RowMapping) -> MigrationManagerError {
    let table = run.destination.flatMap { setting.destination.table(ofEntity: $0.name) }
    guard case .attribute(let entity, let path)? = table?.column(named: name)?.role,
      let leaf = setting.destination.column(atPath: path, in: entity)?.attribute
    else { return .unfitValue(property: name, expected: "a number in range") }
    return .unfitValue(property: path.joined(separator: "."), expected: leaf.type.name)
  }

  /// Sets the relationships of a destination object by the relationship mappings.
  ///
  /// - Parameters:
  ///   - destination: The destination object.
  ///   - mapping: The entity mapping that made it.
  /// - Throws: An error of an expression or the stores.
  public func createRelationships(of destination: ManagedObject, in mapping: EntityMapping) throws {
    guard let run = run(of: mapping), !run.relationships.isEmpty else { return }
    let sources = try sourceInstances(forEntityMappingNamed: mapping.name, destinationInstances: [destination])
    for source in sources { account?.note(source, in: \.related, of: run) }
    for (property, relationship) in run.relationships {
      // If several objects became one, it has the links of all.
      let found = try sources.flatMap { try related(by: property, relationship, from: $0, to: destination, run) }
      try withoutEdits { try set(relationship, of: destination, to: found) }
    }
  }

  func withoutEdits<Value>(_ body: () throws -> Value) rethrows -> Value {
    guard let account else { return try body() }
    return try account.withoutEdits(body)
  }

  /// Leaves out objects that the relationship can't refer to.
  ///
  /// An object that may be in one link only stays in its first one, as when SQL copies the links.
  func set(_ relationship: RelationshipDescription, of object: ManagedObject, to found: [ManagedObject]) throws {
    let inverse = destinationModel.storedInverse(of: relationship)?.relationship
    var seen: Set<ManagedObject> = []
    var objects: [ManagedObject] = []
    for candidate in found {
      guard destinationModel.isEntity(candidate.entityName, kindOf: relationship.destinationEntity),
        seen.insert(candidate).inserted
      else { continue }
      if let inverse, !inverse.isToMany,
        let owner = try candidate.relatedObjects(byRelationship: inverse.name).first, owner !== object
      {
        continue
      }
      objects.append(candidate)
    }
    if relationship.isToMany {
      try object.setObjects(objects, forRelationship: relationship.name)
    } else if let first = objects.first {
      let current = try object.relatedObjects(byRelationship: relationship.name)
      if current.contains(where: objects.contains) { return }
      try object.setObject(first, forRelationship: relationship.name)
    }
  }

  private func related(
    by property: PropertyMapping, _ relationship: RelationshipDescription, from source: ManagedObject,
    to destination: ManagedObject, _ run: RowMapping
  ) throws -> [ManagedObject] {
    switch property.form {
    case .links(let name):
      return try destinationInstances(
        forSourceRelationshipNamed: name, sourceInstances: source.relatedObjects(byRelationship: name))
    case .linksThroughMapping(let mapping, let name):
      return try destinationInstances(
        forEntityMappingNamed: mapping, sourceInstances: source.relatedObjects(byRelationship: name))
    case .defaultValue, .constant, .attribute, .filledAttribute, .steppedAttribute:
      // A path of one name that is not an attribute is a relationship; its objects are in the source.
      guard let name = property.sourceAttributeName else { return [] }
      return try destinationInstances(
        forSourceRelationshipNamed: name, sourceInstances: source.relatedObjects(byRelationship: name))
    case .expression:
      return try Self.objects(in: evaluate(property, from: source, to: destination, run), of: relationship)
    }
  }

  private func evaluate(
    _ property: PropertyMapping, from source: ManagedObject, to destination: ManagedObject, _ run: RowMapping
  ) throws -> EvaluatedValue {
    guard let expression = property.valueExpression else { return .null }
    var evaluator = evaluator(for: run)
    evaluator.variables["source"] = .object(source)
    evaluator.variables["destination"] = .object(destination)
    evaluator.variables["propertyMapping"] = .object(MappingSource(property))
    do {
      return try evaluator.evaluate(expression, on: .object(source))
    } catch let error as EvaluationError {
      throw MigrationManagerError.expressionFailed(property: property.name, reason: "\(error)")
    }
  }

  private func run(of mapping: EntityMapping) -> RowMapping? {
    runs.first { $0.mapping.name == mapping.name }
  }
}
