package import HeirloomModel
package import HeirloomStore

extension RowOracle {
  static func convert(_ value: SQLiteValue, from: AttributeDescription, to: AttributeDescription) -> SQLiteValue {
    if to.allowsExternalBinaryDataStorage, !from.allowsExternalBinaryDataStorage, case .blob(let bytes) = value {
      return .blob([1] + bytes)
    }
    guard from.type != to.type else { return value }
    switch (to.type, value) {
    case (_, .null): return .null
    case (.boolean, .integer(let number)): return .integer(number == 0 ? 0 : 1)
    case (let type, .real(let number)) where type.isInteger:
      return Int64(exactly: number.rounded(.towardZero)).map { .integer($0) } ?? .null
    default: return value
    }
  }

  static func overflows(_ value: SQLiteValue, from: AttributeType, to: AttributeType) -> Bool {
    guard from != to, from.isNumeric, to.isNumeric else { return false }
    let range: ClosedRange<Int64>
    switch to {
    case .integer16: range = Int64(Int16.min)...Int64(Int16.max)
    case .integer32: range = Int64(Int32.min)...Int64(Int32.max)
    case .integer64: range = .min ... .max
    case .float:
      guard case .real(let number) = value else { return false }
      return number.magnitude > Double(Float.greatestFiniteMagnitude)
    default: return false
    }
    switch value {
    case .integer(let number): return !range.contains(number)
    case .real(let number):
      guard let whole = Int64(exactly: number.rounded(.towardZero)) else { return true }
      return !range.contains(whole)
    default: return false
    }
  }

  static func stored(_ value: AttributeValue?, _ attribute: AttributeDescription) -> SQLiteValue {
    switch value {
    case nil, .composite?: .null
    case .integer(let number)?: normal(.integer(number), attribute.type)
    case .double(let number)?, .date(let number)?: .real(number)
    case .decimal(let text)?: .real(Double(text) ?? .nan)
    case .boolean(let flag)?: .integer(flag ? 1 : 0)
    case .string(let text)?, .uri(let text)?: .text(text)
    case .uuid(let bytes)?: .blob(bytes)
    case .binary(let bytes)?: .blob((attribute.allowsExternalBinaryDataStorage ? [1] : []) + bytes)
    }
  }

  /// A column may store a number as an integer or as a real.
  package static func normal(_ value: SQLiteValue, _ type: AttributeType) -> SQLiteValue {
    guard case .integer(let number) = value, [.double, .float, .decimal, .date].contains(type) else { return value }
    return .real(Double(number))
  }

  /// The form of the expected contents, for those read from a store.
  package static func normal(_ contents: StoreContents, _ model: ManagedObjectModel) -> StoreContents {
    var contents = contents
    for (entity, objects) in contents.objects {
      var types: [String: AttributeType] = [:]
      for attribute in model.attributes(of: entity) { collect(attribute, [], &types) }
      contents.objects[entity] = objects.mapValues { object in
        var object = object
        for (path, type) in types { object.values[path] = object.values[path].map { normal($0, type) } }
        return object
      }
    }
    return contents
  }

  private static func collect(
    _ attribute: AttributeDescription, _ path: [String], _ types: inout [String: AttributeType]
  ) {
    let path = path + [attribute.name]
    types[path.joined(separator: ".")] = attribute.type
    for element in attribute.composite?.elements ?? [] { collect(element, path, &types) }
  }
}

// MARK: - Obstacles

extension RowOracle {
  mutating func findAttributeObstacles(in entity: RandomModel.Entity) {
    // An abstract entity's properties are reported by those below it that have objects.
    let isSpeaking =
      !entity.description.isAbstract || destination.tree(of: entity.origin).allSatisfy(\.description.isAbstract)
    guard isSpeaking, let old = source.entity(entity.origin) else { return }
    let origins = source.attributes(of: old.origin)
    for attribute in destination.attributes(of: entity.origin)
    where !attribute.description.isTransient && attribute.derivation == nil {
      guard let origin = origins.first(where: { !$0.origins.isDisjoint(with: attribute.origins) }),
        !origin.description.isTransient
      else { continue }
      find(attribute, origin, [attribute.description.name], owner: owner(of: attribute, in: entity))
    }
    for relationship in destination.relationships(of: entity.origin) where !relationship.description.isTransient {
      guard
        let origin = source.relationships(of: old.origin).first(where: {
          !$0.origins.isDisjoint(with: relationship.origins) && !$0.description.isTransient
        })
      else { continue }
      let targets = source.tree(of: origin.destination).filter { !$0.description.isAbstract }
        .compactMap { destination.entity($0.origin) }
      let isKept = targets.contains { destination.isKind($0.origin, of: relationship.destination) }
      let owner = destination.relationship(relationship.key)?.entity.description.name ?? ""
      if !targets.isEmpty, !isKept {
        obstacles.insert("relationshipDestination \(owner).\(relationship.description.name)")
      }
    }
  }

  private mutating func find(
    _ new: RandomModel.Attribute, _ old: RandomModel.Attribute, _ path: [String], owner: String
  ) {
    guard new.elements.isEmpty else {
      for element in new.elements {
        guard let origin = old.elements.first(where: { !$0.origins.isDisjoint(with: element.origins) }) else {
          continue
        }
        find(element, origin, path + [element.description.name], owner: owner)
      }
      return
    }
    let (from, to) = (old.description.type, new.description.type)
    let isPossible =
      from == to || from.isNumeric && to.isNumeric || from == .boolean && to.isInteger
      || from.isInteger && to == .boolean
    let subject = "\(owner).\(path.joined(separator: "."))"
    if !isPossible { obstacles.insert("incompatibleTypes \(subject)") }
    if isPossible, old.description.allowsExternalBinaryDataStorage, !new.description.allowsExternalBinaryDataStorage {
      obstacles.insert("externalStorageDisabled \(subject)")
    }
  }

  mutating func findMergedHierarchies() {
    for root in destination.entities where root.parent == nil {
      let members = destination.tree(of: root.origin).map(\.origin).filter { source.entity($0) != nil }
      let groups = Dictionary(grouping: members) { source.root(of: $0) }.values
      // One entity of another tree may come under an entity of the tree that stays, but no two related ones may.
      let isInferable = groups.contains { home in
        groups.allSatisfy { group in
          group == home
            || group.count == 1
              && group.allSatisfy { destination.lineage(of: $0).dropFirst().contains { home.contains($0.origin) } }
        }
      }
      if groups.count > 1, !isInferable { obstacles.insert("mergedHierarchies \(root.description.name)") }
    }
  }
}
