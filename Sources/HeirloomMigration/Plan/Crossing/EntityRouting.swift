package import HeirloomMapping
import HeirloomModel
package import HeirloomStore

final class EntityRoute {
  let source: String
  let destination: String
  let sourceNumber: Int
  let destinationNumber: Int
  /// By the destination property's name.
  let properties: [String: PropertyMapping]
  let compiled: [String: CellEntry]

  init(
    source: String, destination: String, sourceNumber: Int, destinationNumber: Int,
    properties: [String: PropertyMapping], compiled: [String: CellEntry]
  ) {
    (self.source, self.destination) = (source, destination)
    (self.sourceNumber, self.destinationNumber) = (sourceNumber, destinationNumber)
    (self.properties, self.compiled) = (properties, compiled)
  }
}

/// The route that fills an entity table: from one tree of the source to a tree of the destination.
struct TreeRoute {
  let destinationRoot: String
  /// `nil` if no entity of the destination tree has a source.
  let sourceRoot: String?
  /// In the order of destination numbers.
  let routes: [EntityRoute]
}

package struct EntityRouting {
  /// Of several for one destination tree, the one that keeps its keys comes first.
  let trees: [TreeRoute]
  package let keys: KeyPlan
  let bySource: [String: EntityRoute]
  let byDestination: [String: EntityRoute]

  /// Throws ``MigrationError/unsupportedMapping(reason:)`` for an entity that is mapped twice.
  package init(
    mapping: MappingModel, compiled: CompiledMappings, keepingKeys kept: [(source: String, destination: String)] = [],
    source: PhysicalSchema, destination: PhysicalSchema, counts: StoreCounts, connection: Connection
  ) throws {
    var bySource: [String: EntityRoute] = [:]
    var byDestination: [String: EntityRoute] = [:]
    for given in mapping.entityMappings {
      let entityMapping = try Self.fittingConstants(of: given, model: destination.model)
      guard let from = entityMapping.sourceEntityName, let to = entityMapping.destinationEntityName else { continue }
      guard let sourceNumber = source.entity(named: from)?.number,
        let destinationNumber = destination.entity(named: to)?.number
      else {
        throw MigrationError.unsupportedMapping(
          reason:
            "the entity mapping \"\(entityMapping.name)\" maps \"\(from)\" to \"\(to)\", but one of them is not in its model"
        )
      }
      let properties = entityMapping.attributeMappings + entityMapping.relationshipMappings
      let route = EntityRoute(
        source: from, destination: to, sourceNumber: sourceNumber, destinationNumber: destinationNumber,
        properties: Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
        compiled: compiled.values(of: entityMapping))
      guard bySource.updateValue(route, forKey: from) == nil, byDestination.updateValue(route, forKey: to) == nil else {
        throw MigrationError.unsupportedMapping(reason: "two entity mappings share the entity \"\(from)\" or \"\(to)\"")
      }
    }
    var trees: [TreeRoute] = []
    for root in destination.model.rootEntities {
      let routes = destination.model.entityTree(from: root.name).compactMap { byDestination[$0.name] }
      let groups = Dictionary(grouping: routes) { source.model.rootEntity(of: $0.source)?.name ?? $0.source }
      if groups.isEmpty { trees.append(TreeRoute(destinationRoot: root.name, sourceRoot: nil, routes: [])) }
      /// The group with the highest entity comes first: the tree that others join keeps its keys.
      func depth(_ routes: [EntityRoute]) -> Int {
        routes.map { destination.model.superentities(of: $0.destination).count }.min() ?? 0
      }
      let order = groups.ordered { first, second in
        let (upper, lower) = (depth(first.value), depth(second.value))
        return upper == lower ? first.key.utf16Precedes(second.key) : upper < lower
      }
      trees += order.map { TreeRoute(destinationRoot: root.name, sourceRoot: $0.key, routes: $0.value) }
    }
    self.trees = trees
    keys = try KeyPlan(trees: trees, keeping: kept, source: source, counts: counts, connection: connection)
    self.bySource = bySource
    self.byDestination = byDestination
  }

  func sourceRoots(ofTree destinationRoot: String) -> [String] {
    trees.filter { $0.destinationRoot == destinationRoot }.compactMap(\.sourceRoot)
  }

  /// Throws for a constant that its attribute can't hold.
  private static func fittingConstants(
    of mapping: EntityMapping, model: ManagedObjectModel
  ) throws(MigrationError) -> EntityMapping {
    var mapping = mapping
    for index in mapping.attributeMappings.indices {
      let property = mapping.attributeMappings[index]
      let given: AttributeValue
      switch property.form {
      case .constant(let value?), .filledAttribute(_, let value): given = value
      default: continue
      }
      let attribute = mapping.destinationEntityName.flatMap {
        model.attributeTarget(property.name, of: $0)?.description
      }
      guard let fitted = attribute.flatMap({ given.fitted(to: $0) }) else {
        throw .unsupportedMapping(
          reason:
            "the property \"\(property.name)\" of the entity mapping \"\(mapping.name)\" is given the value \(given),"
            + " which it can't hold")
      }
      guard fitted != given else { continue }
      if case .filledAttribute(let name, _) = property.form {
        mapping.attributeMappings[index] = PropertyMapping(name: property.name, copying: name, filling: fitted)
      } else {
        mapping.attributeMappings[index].valueExpression = .constant(.value(fitted))
      }
    }
    for property in mapping.relationshipMappings {
      guard case .constant(_?) = property.form else { continue }
      throw .unsupportedMapping(
        reason:
          "the relationship \"\(property.name)\" of the entity mapping \"\(mapping.name)\" is given a value, not objects"
      )
    }
    return mapping
  }
}
