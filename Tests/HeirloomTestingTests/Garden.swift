import Foundation
import Heirloom
import HeirloomModel
import HeirloomStore
import HeirloomSupport
import Testing

/// A model with every kind of attribute and relationship.
enum Garden {
  static func attribute(
    _ name: String, _ type: AttributeType, _ change: (inout AttributeDescription) -> Void = { _ in }
  ) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = true
    change(&attribute)
    return attribute
  }

  static func relationship(
    _ name: String, _ entity: String, _ inverse: String?, many: Bool = false,
    _ change: (inout RelationshipDescription) -> Void = { _ in }
  ) -> RelationshipDescription {
    var relationship = RelationshipDescription(name: name, destinationEntity: entity)
    relationship.inverseRelationship = inverse
    relationship.isOptional = true
    if many { relationship.maxCount = 0 }
    change(&relationship)
    return relationship
  }

  static func model(_ change: (inout [String: EntityDescription]) -> Void = { _ in }) throws -> ManagedObjectModel {
    var thing = EntityDescription(name: "Thing")
    thing.isAbstract = true
    var plant = EntityDescription(name: "Plant")
    plant.superentity = "Thing"
    plant.attributes = [
      attribute("small", .integer16), attribute("middle", .integer32), attribute("large", .integer64),
      attribute("height", .double), attribute("width", .float), attribute("price", .decimal), attribute("born", .date),
      attribute("isGreen", .boolean) { $0.isOptional = false }, attribute("name", .string), attribute("link", .uri),
      attribute("mark", .uuid), attribute("notes", .binary),
      attribute("photo", .binary) { $0.allowsExternalBinaryDataStorage = true }, attribute("tags", .transformable),
      attribute("place", .composite) {
        $0.composite = CompositeAttributeDescription(elements: [
          attribute("street", .string), attribute("number", .integer32),
        ])
      },
      attribute("rating", .integer16) {
        $0.isOptional = false
        $0.validationRules = ["SELF >= 1", "SELF <= 5"].map {
          ValidationRule(predicate: PredicateDescription(keeping: $0))
        }
      },
      attribute("short", .string) {
        $0.isOptional = false
        $0.validationRules = ["length >= 3", "length <= 6"].map {
          ValidationRule(predicate: PredicateDescription(keeping: $0))
        }
      },
    ]
    plant.relationships = [
      relationship("bed", "Bed", "plants") { $0.isOptional = false },
      relationship("label", "Label", "plant") { $0.isOptional = false },
      relationship("friends", "Plant", "friendOf", many: true),
      relationship("friendOf", "Plant", "friends", many: true),
    ]
    var tree = EntityDescription(name: "Tree")
    tree.superentity = "Plant"
    tree.attributes = [attribute("rings", .integer32)]
    var bed = EntityDescription(name: "Bed")
    bed.attributes = [attribute("name", .string)]
    bed.relationships = [
      relationship("plants", "Plant", "bed", many: true) { $0.isOrdered = true },
      relationship("parent", "Bed", "children"),
      relationship("children", "Bed", "parent", many: true),
    ]
    var label = EntityDescription(name: "Label")
    label.attributes = [attribute("code", .integer16) { $0.isOptional = false }, attribute("text", .string)]
    label.uniquenessConstraints = [["code"]]
    label.relationships = [relationship("plant", "Plant", "label")]
    var entities = Dictionary(
      [thing, plant, tree, bed, label].map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    change(&entities)
    return try ManagedObjectModel(entities: Array(entities.values))
  }

  /// Expects that a store is sound and that each object is valid in its model.
  static func expectValid(_ url: URL, _ model: ManagedObjectModel) throws {
    let report = try StoreVerification.report(onStoreAt: url.path)
    #expect(report.findings.filter { $0.severity < .note }.isEmpty)
    let store = try PersistentStore.open(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    for entity in model.entities where !entity.isAbstract {
      for object in try context.fetch(entity.name, includesSubentities: false) {
        #expect(throws: Never.self) { try context.validate(object) }
      }
    }
    try store.close()
  }
}
