import Foundation
import Heirloom
import HeirloomModel
import HeirloomStore
import HeirloomSupport
import TestSupport
import TestSupport
import Testing

/// A model with every kind of attribute and relationship.
enum Garden: ModelMaking {
  static func model(_ change: (inout [String: EntityDescription]) -> Void = { _ in }) throws -> ManagedObjectModel {
    let thing = Make.entity("Thing", isAbstract: true)
    var plant = Make.entity(
      "Plant",
      [
        attribute("small", .integer16), attribute("middle", .integer32), attribute("large", .integer64),
        attribute("height", .double), attribute("width", .float), attribute("price", .decimal),
        attribute("born", .date),
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
      ], parent: "Thing")
    plant.relationships = [
      toOne("bed", "Bed", "plants") { $0.isOptional = false },
      toOne("label", "Label", "plant") { $0.isOptional = false },
      toMany("friends", "Plant", "friendOf"),
      toMany("friendOf", "Plant", "friends"),
    ]
    let tree = Make.entity("Tree", [attribute("rings", .integer32)], parent: "Plant")
    var bed = Make.entity("Bed", [attribute("name", .string)])
    bed.relationships = [
      toMany("plants", "Plant", "bed") { $0.isOrdered = true },
      toOne("parent", "Bed", "children"),
      toMany("children", "Bed", "parent"),
    ]
    var label = Make.entity(
      "Label", [attribute("code", .integer16) { $0.isOptional = false }, attribute("text", .string)], unique: [["code"]]
    )
    label.relationships = [toOne("plant", "Plant", "label")]
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
