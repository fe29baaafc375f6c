public import Foundation
public import HeirloomModel
import HeirloomStore

/// Sample objects of any model: values of all types with edge cases, missing values, and links of every kind.
///
/// ```
/// try SampleObjects(of: oldModel, seed: 1).makeStore(at: storeURL)
/// ```
///
/// The objects are valid in their model: required values and links exist, and validation rules and uniqueness
/// constraints are satisfied, so an app could have saved them. Equal models, numbers and seeds give stores with equal
/// content.
public struct SampleObjects: Sendable {
  struct Plan: Sendable {
    let entity: String
    var values: [String: AttributeValue] = [:]
    /// Indices of plans by relationship, in order.
    var links: [String: [Int]] = [:]
    /// True if a required value or link can't be created.
    var isOut = false
  }

  /// The gaps of the sample, one sentence each: an entity without objects, or an attribute without values.
  public private(set) var notes: [String] = []

  let model: ManagedObjectModel
  var plans: [Plan] = []

  /// Plans the objects.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - objectsPerEntity: The number of objects of each concrete entity, or more if other objects need one each. With
  ///     12, each edge case occurs once.
  ///   - seed: The seed; another one gives other objects.
  public init(of model: ManagedObjectModel, objectsPerEntity: Int = 12, seed: UInt64 = 1) {
    self.init(of: model, asIfOf: model, objectsPerEntity: objectsPerEntity, seed: seed)
  }

  /// `narrower` is the same model with more rules, which the objects satisfy as well.
  package init(of model: ManagedObjectModel, asIfOf narrower: ManagedObjectModel, objectsPerEntity: Int, seed: UInt64) {
    self.model = model
    var random = SplitMix64(seed: seed)
    var values = SampleValues(model: narrower)
    let numbers = SampleLinks.numbers(of: narrower, objectsPerEntity: max(0, objectsPerEntity))
    for entity in narrower.entities where !entity.isAbstract {
      let columns = values.columns(of: entity.name, using: &random)
      for number in 0..<(numbers[entity.name] ?? 0) {
        if let plan = values.object(of: entity.name, number: number, columns: columns) { plans.append(plan) }
      }
    }
    var links = SampleLinks(model: narrower, plans: plans)
    links.link(using: &random)
    plans = links.plans
    notes = values.notes
    if objectsPerEntity > 0 {
      for entity in narrower.entities where !entity.isAbstract {
        guard !plans.contains(where: { $0.entity == entity.name && !$0.isOut }) else { continue }
        notes.append(
          "There are no objects of \"\(entity.name)\": no values and links were found that it allows and requires.")
      }
    }
  }

  /// The number of objects.
  public var count: Int { plans.count { !$0.isOut } }

  /// Makes a store with the objects.
  ///
  /// - Parameter url: The store's file, which must not exist.
  /// - Throws: The error if the store can't be written.
  public func makeStore(at url: URL) throws {
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    var objects: [Int: ManagedObject] = [:]
    for (index, plan) in plans.enumerated() where !plan.isOut {
      let object = try context.insert(plan.entity)
      // A value that is left out stays empty, whatever the model's default is.
      for attribute in model.attributes(of: plan.entity) where attribute.isSampled {
        try object.setValue(plan.values[attribute.name], forAttribute: attribute.name)
      }
      objects[index] = object
    }
    for (index, plan) in plans.enumerated() {
      guard let object = objects[index] else { continue }
      for relationship in model.relationships(of: plan.entity) where !relationship.isTransient {
        let targets = (plan.links[relationship.name] ?? []).compactMap { objects[$0] }
        guard !targets.isEmpty, isLinkingSide(relationship, of: plan.entity) else { continue }
        if relationship.isToMany {
          try object.setObjects(targets, forRelationship: relationship.name)
        } else {
          try object.setObject(targets.first, forRelationship: relationship.name)
        }
      }
    }
    try context.save()
    try ExternalSamples(store: store).moveOut()
    try store.close()
  }

  /// The context sets the other side.
  private func isLinkingSide(_ relationship: RelationshipDescription, of entity: String) -> Bool {
    guard let inverse = model.inverse(of: relationship) else { return true }
    // The order is kept only if the ordered side is set.
    if relationship.isOrdered != inverse.relationship.isOrdered { return relationship.isOrdered }
    if relationship.isToMany != inverse.relationship.isToMany { return relationship.isToMany }
    let owner = model.declaringEntity(ofProperty: relationship.name, in: entity)?.name ?? entity
    return [owner, relationship.name].lexicographicallyPrecedes([inverse.entity.name, inverse.relationship.name])
      || owner == inverse.entity.name && relationship.name == inverse.relationship.name
  }
}

extension AttributeDescription {
  var isSampled: Bool {
    !isTransient && derivation == nil && type != .undefined && type != .objectID
  }
}

/// Moves large values from rows into external files, where Core Data would store them.
private struct ExternalSamples {
  let store: PersistentStore
  /// In bytes.
  private static let limit = 100_000

  func moveOut() throws {
    var number: UInt64 = 0
    for entity in store.schema.entities {
      for attribute in store.model.attributes(of: entity.name) {
        for column in store.schema.columns(ofAttribute: attribute.name, in: entity.name)
        where column.attribute.allowsExternalBinaryDataStorage {
          let name = quote(column.name)
          let rows = try store.connection.rows(
            "SELECT \"Z_PK\", \(name) FROM \(quote(entity.table)) WHERE \"Z_ENT\" = \(entity.number)"
              + " AND length(\(name)) > \(Self.limit) ORDER BY 1")
          for row in rows {
            guard let key = row[0].integer, let bytes = row[1].blob, case .inline(let data)? = ExternalStorage(bytes)
            else { continue }
            number += 1
            let file = try write(data, number: number)
            try store.connection.execute(
              "UPDATE \(quote(entity.table)) SET \(name) = ?2 WHERE \"Z_PK\" = ?1",
              [.integer(key), .blob(ExternalStorage.file(file).bytes)])
          }
        }
      }
    }
  }

  private func write(_ data: [UInt8], number: UInt64) throws -> String {
    var random = SplitMix64(seed: number)
    let bytes = (0..<16).map { _ in UInt8(random.below(256)) }
    let digits = bytes.map { String($0 >> 4, radix: 16, uppercase: true) + String($0 & 15, radix: 16, uppercase: true) }
    let name = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
      .map { $0.joined() }.joined(separator: "-")
    let folder = URL(fileURLWithPath: ExternalStorage.folder(forStoreAt: store.url.path))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(data).write(to: folder.appendingPathComponent(name), options: .withoutOverwriting)
    return name
  }
}
