import HeirloomModel
import HeirloomStore

/// The result that a migration must have, computed from the edits alone: origins say what becomes
/// of each part.
package struct RowOracle {
  /// An object of the source; `root` is the origin of its tree's root.
  struct Reference: Hashable {
    let root: Int
    let key: Int64
  }

  let source: RandomModel
  let destination: RandomModel
  let before: StoreContents
  /// The destination entity's origin, by object.
  var homes: [Reference: Int] = [:]
  private let keys: MergedKeys

  /// Newly one-to-one relationships are left out.
  package private(set) var after = StoreContents()
  /// Why no mapping is inferred: kind and subject.
  package internal(set) var obstacles: Set<String> = []
  /// Why the rows stop the migration: kind and subject, with the number of rows.
  package internal(set) var blockers: [String: Int64] = [:]
  /// The number of rows by subject.
  package internal(set) var losses: [String: Int64] = [:]
  /// Their links can be checked only afterwards.
  var pairings: [Pairing] = []

  /// A relationship that has become one-to-one: any largest possible set of its links will do.
  struct Pairing {
    let entity: String
    let relationship: String
    let inverseEntity: String
    let inverse: String
    let links: [(owner: Int64, target: Int64)]
  }

  package init(from source: RandomModel, to destination: RandomModel, before: StoreContents) {
    self.source = source
    self.destination = destination
    self.before = before
    keys = MergedKeys(
      source.entities.compactMap { entity in
        guard let home = destination.entity(entity.origin) else { return nil }
        let (old, new) = (source.lineage(of: entity.origin), destination.lineage(of: home.origin))
        return MergedKeys.Member(
          sourceRoot: old.last?.description.name ?? "", destinationRoot: new.last?.description.name ?? "",
          depth: new.count - 1, objects: before.objects[entity.description.name]?.count ?? 0)
      },
      highest: Dictionary(
        source.entities.map { entity in
          (
            source.lineage(of: entity.origin).last?.description.name ?? "",
            before.objects[entity.description.name, default: [:]].keys.max() ?? 0
          )
        }, uniquingKeysWith: max))
    for entity in destination.entities where !entity.description.isAbstract {
      after.objects[entity.description.name] = [:]
    }
    for entity in destination.entities where entity.description.isAbstract {
      after.objects[entity.description.name] = [:]
    }
    findMergedHierarchies()
    for entity in source.entities { migrateObjects(of: entity) }
    for entity in destination.entities { findAttributeObstacles(in: entity) }
    for entity in destination.entities {
      for relationship in entity.relationships where !relationship.description.isTransient {
        migrateLinks(of: relationship, declaredBy: entity)
      }
    }
    for entity in destination.entities { checkConstraints(of: entity) }
  }

  // MARK: Objects

  private mutating func migrateObjects(of entity: RandomModel.Entity) {
    let name = entity.description.name
    let objects = before.objects[name] ?? [:]
    guard let home = destination.entity(entity.origin) else {
      if !objects.isEmpty { losses["\(name)"] = Int64(objects.count) }
      return
    }
    guard !home.description.isAbstract else {
      if !objects.isEmpty { block("uninstantiable \(home.description.name)", Int64(objects.count)) }
      return
    }
    let old = source.attributes(of: entity.origin)
    let new = destination.attributes(of: home.origin)
    let root = source.root(of: entity.origin)
    for (key, object) in objects {
      homes[Reference(root: root, key: key)] = home.origin
      var migrated = StoreContents.StoredObject()
      migrated.saves = object.saves
      for attribute in new where !attribute.description.isTransient && attribute.derivation == nil {
        let origin = Self.origin(of: attribute, among: old)
        migrate(
          Level(attribute, [attribute.description.name], false),
          from: origin.map { Level($0, [$0.description.name], false) }, object.values, into: &migrated.values,
          owner: owner(of: attribute, in: home))
      }
      for attribute in old where !attribute.description.isTransient && attribute.derivation == nil {
        let heir = new.first { !$0.origins.isDisjoint(with: attribute.origins) && $0.derivation == nil }
        let owner = source.attribute(attribute.key)?.entity.description.name ?? ""
        countLost(attribute, [attribute.description.name], heir: heir, object.values, owner: owner)
      }
      after.objects[home.description.name, default: [:]][newKey(of: Reference(root: root, key: key))] = migrated
    }
  }

  func newKey(of object: Reference) -> Int64 {
    let name = { (model: RandomModel, origin: Int) in model.entity(origin)?.description.name ?? "" }
    guard let home = homes[object] else { return object.key }
    return keys.key(object.key, from: name(source, object.root), to: name(destination, destination.root(of: home)))
  }

  static func origin(of attribute: RandomModel.Attribute, among old: [RandomModel.Attribute]) -> RandomModel.Attribute?
  {
    old.first {
      !$0.origins.isDisjoint(with: attribute.origins) && !$0.description.isTransient && $0.derivation == nil
    }
  }

  func owner(of attribute: RandomModel.Attribute, in entity: RandomModel.Entity) -> String {
    destination.lineage(of: entity.origin).first { $0.attributes.contains { $0.key == attribute.key } }?
      .description.name ?? ""
  }

  mutating func block(_ subject: String, _ rows: Int64) { blockers[subject, default: 0] += rows }

  /// It is optional if anything around it may be without a value.
  struct Level {
    let attribute: RandomModel.Attribute
    let path: [String]
    let isOptional: Bool

    init(_ attribute: RandomModel.Attribute, _ path: [String], _ isOptional: Bool) {
      self.attribute = attribute
      self.path = path
      self.isOptional = isOptional || attribute.description.isOptional
    }

    var elements: [Level] {
      attribute.elements.map { Level($0, path + [$0.description.name], isOptional) }
    }
  }

  private mutating func migrate(
    _ new: Level, from old: Level?, _ values: [String: SQLiteValue], into migrated: inout [String: SQLiteValue],
    owner: String
  ) {
    guard new.attribute.elements.isEmpty else {
      for element in new.elements {
        let origin = old?.elements.first { !$0.attribute.origins.isDisjoint(with: element.attribute.origins) }
        migrate(element, from: origin, values, into: &migrated, owner: owner)
      }
      if let old, new.attribute.description.isOptional { blockPartial(new, from: old, migrated, owner: owner) }
      return
    }
    let path = new.path.joined(separator: ".")
    let description = new.attribute.description
    var value = SQLiteValue.null
    if let old {
      let stored = values[old.path.joined(separator: ".")] ?? .null
      if Self.overflows(stored, from: old.attribute.description.type, to: description.type) {
        block("overflow \(owner).\(path)", 1)
        return
      }
      value = Self.convert(stored, from: old.attribute.description, to: description)
      if value == .null, !new.isOptional { value = Self.stored(description.defaultValue, description) }
    } else {
      value = Self.stored(description.defaultValue, description)
    }
    if value == .null, !new.isOptional { block("missingValue \(owner).\(path)", 1) }
    migrated[path] = Self.normal(value, description.type)
  }

  /// Counts the required leaves that are missing in an optional composite with another leaf.
  ///
  /// An object may lack the whole composite, and what it lacked before.
  private mutating func blockPartial(
    _ composite: Level, from old: Level, _ migrated: [String: SQLiteValue], owner: String
  ) {
    func leaves(_ level: Level, _ old: Level?, _ isRequired: Bool) -> [(path: String, isNewlyRequired: Bool)] {
      let isRequired = isRequired && !level.attribute.description.isOptional
      guard !level.attribute.elements.isEmpty else {
        return [(level.path.joined(separator: "."), isRequired && old?.attribute.description.isOptional ?? true)]
      }
      return level.elements.flatMap { element in
        leaves(
          element, old?.elements.first { !$0.attribute.origins.isDisjoint(with: element.attribute.origins) }, isRequired
        )
      }
    }
    let all = composite.elements.flatMap { element in
      leaves(element, old.elements.first { !$0.attribute.origins.isDisjoint(with: element.attribute.origins) }, true)
    }
    let isThere = all.contains { (migrated[$0.path] ?? .null) != .null }
    for leaf in all where leaf.isNewlyRequired && isThere && (migrated[leaf.path] ?? .null) == .null {
      block("missingValue \(owner).\(leaf.path)", 1)
    }
  }

  private mutating func countLost(
    _ attribute: RandomModel.Attribute, _ path: [String], heir: RandomModel.Attribute?, _ values: [String: SQLiteValue],
    owner: String
  ) {
    let isKept = heir.map { !$0.description.isTransient } ?? false
    guard attribute.elements.isEmpty else {
      for element in attribute.elements {
        let next = isKept ? heir?.elements.first { !$0.origins.isDisjoint(with: element.origins) } : nil
        countLost(element, path + [element.description.name], heir: next, values, owner: owner)
      }
      return
    }
    let text = path.joined(separator: ".")
    if !isKept, (values[text] ?? .null) != .null { losses["\(owner).\(text)", default: 0] += 1 }
  }

  // MARK: Constraints

  private mutating func checkConstraints(of entity: RandomModel.Entity) {
    let old = source.entity(entity.origin)
    for constraint in entity.constraints {
      let attributes = constraint.compactMap { key in destination.attributes(of: entity.origin).first { $0.key == key }
      }
      guard attributes.count == constraint.count else { continue }
      _ = old
      var counts: [[SQLiteValue]: Int64] = [:]
      for heir in destination.tree(of: entity.origin) {
        for object in (after.objects[heir.description.name] ?? [:]).values {
          let values = attributes.map { object.values[$0.description.name] ?? .null }
          if !values.contains(.null) { counts[values, default: 0] += 1 }
        }
      }
      let duplicates = counts.values.reduce(0) { $0 + $1 - 1 }
      let names = attributes.map(\.description.name).joined(separator: ", ")
      if duplicates > 0 { block("duplicate \(entity.description.name).\(names)", duplicates) }
    }
  }

  mutating func setLinks(_ links: [Int64], of relationship: String, entity: String, key: Int64) {
    if !links.isEmpty { after.objects[entity]?[key]?.links[relationship] = links }
  }
}
