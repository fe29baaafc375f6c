import HeirloomModel

/// Known traps between two neighbouring versions, when rows are migrated from one to the next.
struct SwiftDataStepReview {
  private(set) var findings: [HistoryFinding] = []

  private typealias Property = SwiftDataVersion.Property

  private let old: SwiftDataVersion
  private let new: SwiftDataVersion
  /// There is, or may be, code between the versions.
  private let isCustom: Bool
  /// Code may change the rows before they are migrated.
  private let isPrepared: Bool

  init(from old: SwiftDataVersion, to new: SwiftDataVersion, plan: SwiftDataSchemas.Plan) {
    (self.old, self.new) = (old, new)
    let stage = plan.stages.first { $0.source == old.name && $0.destination == new.name }
    isCustom = stage.map { $0.kind == .custom } ?? !plan.hasAllStages
    isPrepared = stage.map { $0.code["willMigrate"] != nil } ?? !plan.hasAllStages
    reviewEntities()
    for name in new.entityNames {
      guard let before = old.properties(of: name), let after = new.properties(of: name) else { continue }
      reviewProperties(of: name, before, after)
      reviewConstraints(of: name, before, after)
    }
  }

  private mutating func add(
    _ rule: HistoryRule, _ severity: HistoryFinding.Severity, at place: SwiftPlace?, _ entity: String,
    _ property: String?, _ problem: String, remedy: String
  ) {
    findings.append(
      HistoryFinding(
        rule, severity, at: place, version: new.name, entity: entity, property: property, problem, remedy: remedy))
  }

  // MARK: - Pairs

  /// Removed items with added ones: the only two that are alike, or alike ones with similar names.
  private static func renames<Item>(
    _ gone: [Item], _ new: [Item], name: (Item) -> String, alike: (Item, Item) -> Bool
  ) -> [(gone: Item, new: Item)] {
    gone.compactMap { item in
      let candidates = new.filter { alike(item, $0) }
      let near = candidates.filter { areNear(name(item), name($0)) }
      if near.count == 1, gone.count(where: { areNear(name($0), name(near[0])) && alike($0, near[0]) }) == 1 {
        return (item, near[0])
      }
      return gone.count == 1 && candidates.count == 1 ? (item, candidates[0]) : nil
    }
  }

  private static func areNear(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.lowercased(), right.lowercased())
    let (short, long) = left.utf8.count < right.utf8.count ? (left, right) : (right, left)
    return short.utf8.count > 2 && (long.hasPrefix(short) || long.hasSuffix(short))
  }

  // MARK: - Entities

  private mutating func reviewEntities() {
    guard old.schema.faults.isEmpty, new.schema.faults.isEmpty else { return }
    let gone = old.entityNames.filter { new.entities[$0] == nil }
    let added = new.entityNames.filter { old.entities[$0] == nil }
    for (before, after) in Self.renames(gone, added, name: { $0 }, alike: { areAlike($0, $1) }) {
      add(
        .lostEntity, isCustom ? .warning : .error, at: new.classes[after]?.place, after, nil,
        "\(new.name) has \(after) in place of \(before), and SwiftData drops the rows of \(before): an entity is named"
          + " after its class, regardless of aliases, and has no former name.",
        remedy:
          "If \(before) is only a frozen copy of \(after), \(old.name) isn't what was released: give both one name.")
    }
  }

  /// Two classes have two thirds of their properties in common.
  private func areAlike(_ before: String, _ after: String) -> Bool {
    guard let before = old.properties(of: before), let after = new.properties(of: after) else { return false }
    // Relationships are compared by name only, since their types may be renamed as well.
    func key(_ property: Property) -> [String] { [property.name, property.attribute == nil ? "" : property.type] }
    let keys = Set(before.map(key))
    let common = after.count { keys.contains(key($0)) }
    return common > 0 && common * 3 >= max(before.count, after.count) * 2
  }

  // MARK: - Properties

  private mutating func reviewProperties(of entity: String, _ before: [Property], _ after: [Property]) {
    var added: [Property] = []
    var kept: Set<String> = []
    for property in after {
      guard let origin = Self.origin(of: property, in: before) else {
        added.append(property)
        continue
      }
      kept.insert(origin.name)
      reviewFormerName(of: entity, origin, property)
      reviewType(of: entity, origin, property)
      reviewCases(of: entity, origin, property)
      reviewValue(of: entity, origin, property)
    }
    let gone = before.filter { !kept.contains($0.name) }
    let renames = Self.renames(gone, added, name: \.name) { $0.type == $1.type && !$0.type.isEmpty }
    for (before, after) in renames where before.isStable && after.isStable {
      let macro = after.attribute == nil ? "Relationship" : "Attribute"
      add(
        .suspectedRename, isCustom ? .note : .warning, at: after.place, entity, after.name,
        "\(entity).\(before.name) is removed in \(new.name), and \(after.name) of the same type is added: the values of"
          + " \(before.name) are dropped.",
        remedy: "If it was renamed, write @\(macro)(originalName: \"\(before.name)\") before it.")
    }
    for property in added where property.isStable {
      guard let attribute = property.attribute, !attribute.isOptional, !property.hasDefault else { continue }
      add(
        .missingDefault, isCustom ? .warning : .error, at: property.place, entity, property.name,
        "\(entity).\(property.name) is new in \(new.name) and required, and the rows of \(old.name) have no value"
          + (isCustom ? ": they are carried over before didMigrate runs." : ", so no store with rows opens."),
        remedy: "Give it an initial value, or make it optional.")
    }
  }

  private static func origin(of property: Property, in before: [Property]) -> Property? {
    let same = before.first { $0.name == property.name }
    // A former name that both versions have is no rename between them.
    if let same, same.firstName == property.firstName { return same }
    return before.first { $0.firstName == property.firstName } ?? before.first { $0.name == property.originalName }
      ?? same
  }

  /// The values are dropped because versions are matched by a property's first name.
  private mutating func reviewFormerName(of entity: String, _ before: Property, _ after: Property) {
    let (first, other) = (before.firstName, after.firstName)
    guard first != other, before.isStable, after.isStable else { return }
    add(
      .lostFormerName, .warning, at: after.place, entity, after.name,
      "\(entity).\(after.name) has the renaming identifier \(first) in \(old.name) and \(other) in \(new.name), so its"
        + " values are dropped.",
      remedy: "Write originalName: \"\(first)\" in each later version.")
  }

  private mutating func reviewValue(of entity: String, _ before: Property, _ after: Property) {
    guard !isPrepared, after.isStable, before.isStable, before.attribute?.isOptional == true,
      after.attribute?.isOptional == false, !after.hasDefault
    else { return }
    add(
      .missingDefault, .warning, at: after.place, entity, after.name,
      "\(entity).\(after.name) is required from \(new.name) on, and rows of \(old.name) without a value stop the "
        + "migration.",
      remedy: "Give it an initial value, or fill it in willMigrate of a custom stage.")
  }

  // MARK: - Types

  /// Their values are converted to each other.
  private static let numbers: Set<AttributeType> = [.integer16, .integer32, .integer64, .decimal, .double, .float]

  private mutating func reviewType(of entity: String, _ before: Property, _ after: Property) {
    guard before.isCertain, after.isCertain, let source = before.attribute?.type, let type = after.attribute?.type,
      source != type, !Self.numbers.isSuperset(of: [source, type])
    else { return }
    // No known store shows the conversion of a truth value or a date to a number.
    let isOpen = Self.numbers.union([.boolean, .date]).isSuperset(of: [source, type])
    add(
      .changedType, isOpen ? .warning : .error, at: after.place, entity, after.name,
      "\(entity).\(after.name) is \(source.name) in \(old.name) and \(type.name) in \(new.name), which SwiftData"
        + " \(isOpen ? "isn't known to migrate" : "doesn't migrate").",
      remedy: "Add a property of the new type under another name, fill it in a stage, and remove the old one a version"
        + " later.")
  }

  private mutating func reviewCases(of entity: String, _ before: Property, _ after: Property) {
    guard !isPrepared, let left = old.composite(before, of: entity), let right = new.composite(after, of: entity),
      let all = old.rawValues(of: left), let rest = new.rawValues(of: right)
    else { return }
    let gone = all.filter { item in !rest.contains { $0.value == item.value } }
    guard !gone.isEmpty else { return }
    let names = NameList.text(gone.map { $0.name == $0.value ? $0.name : "\($0.value) (\($0.name))" })
    add(
      .narrowedEnum, .warning, at: right.place, entity, after.name,
      "\(right.name) of \(new.name) lacks \(names), and a row of \(entity) with such a value crashes the app when it is"
        + " read.",
      remedy: "Keep the case, or replace the value in willMigrate.")
  }

  // MARK: - Constraints

  private mutating func reviewConstraints(of entity: String, _ before: [Property], _ after: [Property]) {
    guard let left = old.entities[entity], let right = new.entities[entity] else { return }
    for names in right.uniquenessConstraints {
      let properties = after.filter { names.contains($0.name) }
      let origins = properties.compactMap { Self.origin(of: $0, in: before) }
      guard properties.allSatisfy(\.isCertain), origins.allSatisfy(\.isCertain) else { continue }
      // A superset of unique properties is unique as well.
      let known = Set(origins.map(\.name))
      guard !left.uniquenessConstraints.contains(where: { known.isSuperset(of: $0) }) else { continue }
      let place = properties.first?.place
      let text = names.joined(separator: ", ")
      if origins.count == properties.count {
        guard !isPrepared else { continue }
        add(
          .newConstraint, .warning, at: place, entity, names.count == 1 ? names[0] : nil,
          "\(entity) is unique by \(text) from \(new.name) on, and rows of \(old.name) with equal values stop the "
            + "migration.",
          remedy: "Let a custom stage remove them in willMigrate.")
      } else if origins.isEmpty,
        properties.allSatisfy(\.hasDefault)
      {
        add(
          .constantUnique, isCustom ? .warning : .error, at: place, entity, names.count == 1 ? names[0] : nil,
          "\(entity).\(text) is new in \(new.name) and unique, and its initial value is computed once: all rows of "
            + "\(old.name) get the same one.",
          remedy: "Add it without the constraint, fill it in didMigrate, and make it unique a version later.")
      }
    }
  }
}

extension SwiftDataVersion.Property {
  /// Every build of the app contains it.
  fileprivate var isStable: Bool { !declaration.isConditional && !declaration.isQuoted }

  /// For matching two versions: the renaming identifier, else the name.
  fileprivate var firstName: String { originalName ?? name }
}
