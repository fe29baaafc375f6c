import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Computes derived attributes in the candidate's rows whose values can't be copied.
///
/// Core Data's triggers compute them when objects change. For the rows that a migration writes,
/// they are computed after all rows and indexes exist and before the triggers do.
struct DerivedBackfill {
  let crossing: Crossing
  /// True when code makes objects too, of any entity.
  var followsCode: Bool = false
  /// True when all values that can be computed are, because decisions change their inputs.
  var isAnew = false

  private final class Derived {
    let entity: EntityDescription
    let attribute: AttributeDescription
    let derivation: DerivedAttributeDescription

    init(entity: EntityDescription, attribute: AttributeDescription, derivation: DerivedAttributeDescription) {
      (self.entity, self.attribute, self.derivation) = (entity, attribute, derivation)
    }
  }

  private var routing: EntityRouting { crossing.routing }
  private var source: PhysicalSchema { crossing.source }
  private var destination: PhysicalSchema { crossing.destination }

  /// A value that is the input of others comes before them.
  var steps: [MigrationStep] {
    var pending = derived.filter { item in
      followsCode || routes(of: item).contains { isComputed(item, in: $0) }
    }
    var steps: [MigrationStep] = []
    while !pending.isEmpty {
      let names = Set(pending.map(\.attribute.name))
      let ready = pending.filter { item in
        DerivationInput(item.derivation)?.attribute.map { $0 == item.attribute.name || !names.contains($0) } ?? true
      }
      // Values that depend on each other in a cycle have no right order.
      let next = ready.isEmpty ? pending : ready
      steps += next.compactMap(step)
      let done = Set(next.map { [$0.entity.name, $0.attribute.name] })
      pending.removeAll { done.contains([$0.entity.name, $0.attribute.name]) }
    }
    return steps
  }

  var tablesFollowingCode: Set<String> {
    guard followsCode else { return [] }
    return Set(
      derived.filter { DerivationInput($0.derivation)?.relationship != nil }.compactMap {
        destination.table(ofEntity: $0.entity.name)?.name
      })
  }

  var warnings: [String] {
    derived.compactMap { item in
      let routes = routes(of: item).filter { crossing.counts.byEntity[$0.source, default: 0] > 0 }
      guard routes.contains(where: { isDue(item, in: $0) }), expression(of: item) == nil else { return nil }
      return
        "the derived attribute \(item.entity.name).\(item.attribute.name) gets no value in existing objects until they, or"
        + " the objects that it is derived from, change: \(item.derivation.derivationExpression.predicateFormat) can't be computed here"
    }
  }

  func isComputed(_ attribute: AttributeDescription, declaredBy entity: String, in route: EntityRoute) -> Bool {
    guard let derivation = attribute.derivation, let owner = destination.model.entity(named: entity) else {
      return false
    }
    return isComputed(Derived(entity: owner, attribute: attribute, derivation: derivation), in: route)
  }

  /// Mappings have no property mapping for derived attributes.
  static func source(
    of attribute: AttributeDescription, in route: EntityRoute, model: ManagedObjectModel
  ) -> AttributeDescription? {
    guard attribute.derivation != nil else { return nil }
    return model.attributes(of: route.source).first { attribute.isDerived(as: $0) }
  }
}

// MARK: - Choice of attributes

extension DerivedBackfill {
  private var derived: [Derived] {
    destination.model.entities.flatMap { entity in
      entity.attributes.compactMap { attribute in
        guard !attribute.isTransient, let derivation = attribute.derivation else { return nil }
        return Derived(entity: entity, attribute: attribute, derivation: derivation)
      }
    }
  }

  private func routes(of item: Derived) -> [EntityRoute] {
    destination.model.entityTree(from: item.entity.name).compactMap { routing.byDestination[$0.name] }
  }

  private func isComputed(_ item: Derived, in route: EntityRoute) -> Bool {
    guard expression(of: item) != nil else { return false }
    // The time of the last change is kept; other values are computed for all objects or for none.
    if DerivationInput(item.derivation)?.kind == .now { return isDue(item, in: route) }
    return isAnew || routes(of: item).contains { isDue(item, in: $0) }
  }

  /// True if the source has no value, or one whose input may have changed.
  private func isDue(_ item: Derived, in route: EntityRoute) -> Bool {
    guard Self.source(of: item.attribute, in: route, model: source.model) != nil,
      let input = DerivationInput(item.derivation)
    else { return true }
    if input.kind == .now { return false }
    guard let relationship = input.relationship else { return !isKept(input.attribute, in: route) }
    guard route.properties[relationship]?.sourceRelationshipName == relationship,
      let old = source.model.relationship(named: relationship, of: route.source),
      let new = destination.model.relationship(named: relationship, of: route.destination),
      old.isToMany == new.isToMany, isShared(old, in: source.model) == isShared(new, in: destination.model),
      isAlone(new, of: route.destination)
    else { return true }
    let targets = LinkTargets(from: old, of: route.source, to: new, in: crossing)
    return !targets.isComplete
      || input.attribute != nil && !targets.surviving.allSatisfy { isKept(input.attribute, in: $0) }
  }

  private func isAlone(_ relationship: RelationshipDescription, of entity: String) -> Bool {
    let owner = destination.model.declaringEntity(ofProperty: relationship.name, in: entity)?.name ?? entity
    return crossing.links(of: relationship, declaredBy: owner)?.parts.count == 1
  }

  private func isShared(_ relationship: RelationshipDescription, in model: ManagedObjectModel) -> Bool? {
    model.storedInverse(of: relationship)?.relationship.isToMany
  }

  private func isKept(_ name: String?, in route: EntityRoute) -> Bool {
    guard let name, route.properties[name]?.sourceAttributeName == name,
      let old = source.model.attribute(named: name, of: route.source),
      let new = destination.model.attribute(named: name, of: route.destination),
      let leaves = LeafPair(from: old, to: AttributeTarget(new), path: [])
    else { return false }
    return old.type == new.type && !leaves.mustFill
  }
}

// MARK: - SQL

extension DerivedBackfill {
  private func step(for item: Derived) -> MigrationStep? {
    guard let expression = expression(of: item),
      let column = destination.column(atPath: [item.attribute.name], in: item.entity.name)
    else { return nil }
    var numbers = routes(of: item).filter { isComputed(item, in: $0) }.map { String($0.destinationNumber) }
    var condition = ""
    if followsCode {
      let computed = Set(numbers)
      numbers = destination.model.entityTree(from: item.entity.name).compactMap { entity in
        destination.entity(named: entity.name).map { String($0.number) }
      }
      // The value can depend on changes that code made only if it is derived from other objects.
      if DerivationInput(item.derivation)?.relationship == nil {
        let dueNumbers = computed.ordered().joined(separator: ", ")
        condition =
          " AND (t0.\(quote(column.name)) IS NULL OR t0.\(quote(PhysicalName.entity)) IN (\(dueNumbers)))"
      }
    }
    return MigrationStep(
      kind: .computeDerived, subject: "\(item.entity.name).\(item.attribute.name)",
      summary: "Compute \(item.entity.name).\(item.attribute.name)",
      statements: [
        PlannedStatement(
          "UPDATE \(quote(SchemaName.candidate)).\(quote(column.table)) AS t0 NOT INDEXED SET \(quote(column.name)) = \(expression)"
            + " WHERE t0.\(quote(PhysicalName.entity)) IN (\(numbers.joined(separator: ", ")))\(condition)")
      ])
  }

  private func expression(of item: Derived) -> String? {
    guard let input = DerivationInput(item.derivation) else { return nil }
    let entity = item.entity.name
    switch input.kind {
    case .now: return "(SELECT \(PhysicalName.nowFunction)())"
    case .value: return value(input.path, of: entity, row: 0)
    case .text(let function): return value(input.path, of: entity, row: 0).map { "\(function.rawValue)(\($0))" }
    case .collected(let function): return collected(function, input.path, of: entity)
    }
  }

  private func value(_ path: [String], of entity: String, row: Int) -> String? {
    if let column = destination.column(atPath: path, in: entity) { return "t\(row).\(quote(column.name))" }
    guard path.count > 1, let relationship = destination.model.relationship(named: path[0], of: entity),
      case .key(_, let key, _)? = destination.storage(ofRelationship: path[0], in: entity),
      let table = destination.table(ofEntity: relationship.destinationEntity)?.name,
      let inner = value(Array(path.dropFirst()), of: relationship.destinationEntity, row: row + 1)
    else { return nil }
    return "(SELECT \(inner) FROM \(quote(SchemaName.candidate)).\(quote(table)) AS t\(row + 1)"
      + " WHERE t\(row + 1).\(quote(PhysicalName.primaryKey)) = t\(row).\(quote(key)))"
  }

  private func collected(_ function: DerivationInput.Collector, _ path: [String], of entity: String) -> String? {
    guard let name = path.first, let relationship = destination.model.relationship(named: name, of: entity),
      relationship.isToMany, let storage = destination.storage(ofRelationship: name, in: entity)
    else { return nil }
    let key = quote(PhysicalName.primaryKey)
    let candidate = quote(SchemaName.candidate)
    let rows: String
    switch storage {
    case .key: return nil
    case .inverseKey(let table, let column, _, _), .inverselessKey(let table, let column, _):
      rows = "FROM \(candidate).\(quote(table)) AS t1 WHERE t1.\(quote(column)) = t0.\(key)"
    case .join(let table, let owner, let target, _):
      guard let objects = destination.table(ofEntity: relationship.destinationEntity)?.name else { return nil }
      rows =
        "FROM \(candidate).\(quote(table)) AS l JOIN \(candidate).\(quote(objects)) AS t1"
        + " ON t1.\(key) = l.\(quote(target)) WHERE l.\(quote(owner)) = t0.\(key)"
    }
    if function == .count { return path.count == 1 ? "(SELECT COUNT(*) \(rows))" : nil }
    guard let inner = value(Array(path.dropFirst()), of: relationship.destinationEntity, row: 1) else { return nil }
    switch function {
    case .count: return nil
    // The sum of no values is 0; the average, minimum and maximum are NULL.
    case .sum: return "(SELECT COALESCE(SUM(\(inner)), 0) \(rows))"
    case .average: return "(SELECT AVG(\(inner)) \(rows))"
    case .minimum: return "(SELECT MIN(\(inner)) \(rows))"
    case .maximum: return "(SELECT MAX(\(inner)) \(rows))"
    }
  }
}

/// The input of a derived attribute, in one of the forms that Core Data accepts.
struct DerivationInput: Hashable {
  enum Kind: Hashable {
    /// The time of the last change.
    case now
    case value
    case text(TextFunction)
    case collected(Collector)
  }

  enum Collector: String, Hashable {
    case count = "count:"
    case sum = "sum:"
    case average = "average:"
    case minimum = "min:"
    case maximum = "max:"
  }

  let kind: Kind
  let path: [String]

  /// `nil` for another form, or one with a condition on the collected objects.
  init?(_ derivation: DerivedAttributeDescription) {
    guard derivation.filteringPredicate == nil else { return nil }
    switch derivation.derivationExpression.compiled {
    case _ where derivation.isTimeOfChange: (kind, path) = (.now, [])
    case .keyPath(operand: .evaluatedObject, let text):
      (kind, path) = (.value, Self.names(in: text))
    case .function(_, let selector, let arguments):
      guard arguments.count == 1, case .keyPath(operand: .evaluatedObject, let text) = arguments[0] else { return nil }
      if let collector = Collector(rawValue: selector) {
        kind = .collected(collector)
      } else if let function = TextFunction(selector: selector) {
        kind = .text(function)
      } else {
        return nil
      }
      path = Self.names(in: text)
    default: return nil
    }
    guard !path.contains(where: { $0.hasPrefix("@") }) else { return nil }
  }

  /// The first relationship of the path, if the path continues after it or collects its objects.
  var relationship: String? {
    if case .collected = kind { return path.first }
    return path.count > 1 ? path.first : nil
  }

  /// The last name of the path, if it is an attribute.
  var attribute: String? {
    if kind == .collected(.count) { return nil }
    return path.last
  }

  private static func names(in path: String) -> [String] {
    path.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
  }
}
