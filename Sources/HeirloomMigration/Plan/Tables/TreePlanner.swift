import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Plans the transfer that fills the table of one entity tree, column by column.
struct TreePlanner {
  let tree: TreeRoute
  let crossing: Crossing
  var links: LinkTables
  var decided = DecidedValues()
  /// True when derived attributes are computed again because a decision changes their inputs.
  var recomputes = false

  private var routing: EntityRouting { crossing.routing }
  private var source: PhysicalSchema { crossing.source }
  private var destination: PhysicalSchema { crossing.destination }

  mutating func transfer(table: PhysicalTable) -> TableTransfer? {
    guard let sourceRoot = tree.sourceRoot, let sourceTable = source.table(ofEntity: sourceRoot) else { return nil }
    var columns: [(name: String, entry: CellEntry)] = []
    for column in table.columns {
      columns.append((column.name, entry(for: column, of: table)))
    }
    return TableTransfer(
      table: table.name, sourceTable: sourceTable.name, sourceNumbers: tree.routes.map(\.sourceNumber).sorted(),
      destinationNumbers: isMerged ? tree.routes.map(\.destinationNumber).sorted() : nil, key: ownKey,
      columns: columns)
  }

  private static let sourceKey = "s.\(quote(PhysicalName.primaryKey))"

  private var ownKey: String {
    guard let sourceRoot = tree.sourceRoot else { return Self.sourceKey }
    return routing.keys.moved(Self.sourceKey, from: sourceRoot, to: tree.destinationRoot)
  }

  private var isMerged: Bool { routing.sourceRoots(ofTree: tree.destinationRoot).count > 1 }

  private mutating func entry(for column: PhysicalColumn, of table: PhysicalTable) -> CellEntry {
    switch column.role {
    case .primaryKey:
      return CellEntry(sql: ownKey, isVerbatim: ownKey == Self.sourceKey).from(column.name)
    case .optimisticLock:
      return CellEntry(sql: "s.\(quote(column.name))", isVerbatim: true).from(column.name)
    case .entity:
      let numbers = Dictionary(
        tree.routes.map { ($0.sourceNumber, $0.destinationNumber) }, uniquingKeysWith: { first, _ in first })
      return CellEntry.renumbering("s.\(quote(PhysicalName.entity))", numbers).from(PhysicalName.entity)
    case .attribute(let entity, let path):
      return attributeEntry(path, declaredBy: entity, column: column.name, of: table)
    case .key(let entity, let relationship):
      return keyEntry(relationship, declaredBy: entity).key
    case .keyEntity(let entity, let relationship):
      return keyEntry(relationship, declaredBy: entity).entity
    case .order(let entity, let relationship):
      return orderEntry(relationship, declaredBy: entity)
    case .inverselessKey(let entity, let relationship):
      return inverselessKeyEntry(relationship, declaredBy: entity)
    case .unknown:
      let isThere =
        tree.sourceRoot.flatMap { source.table(ofEntity: $0) }?.column(named: column.name)?.role == .unknown
      return isThere ? CellEntry(sql: "s.\(quote(column.name))", isVerbatim: true).from(column.name) : .null
    case .joinKey, .reflexiveKey:
      return .null
    }
  }

  private func routes(below entity: String) -> [EntityRoute] {
    tree.routes.filter { destination.model.isEntity($0.destination, kindOf: entity) }
  }

  /// True if only the source entities of `routes` have the property, of all in the tree.
  private func isPrivate(_ property: String, of entity: String, to routes: [EntityRoute]) -> Bool {
    guard let declaring = source.model.declaringEntity(ofProperty: property, in: entity) else { return false }
    let covered = Set(routes.map(\.source))
    return tree.routes.allSatisfy { route in
      covered.contains(route.source) || !source.model.isEntity(route.source, kindOf: declaring.name)
    }
  }

  private func combine(
    _ property: String, declaredBy entity: String, _ entry: (EntityRoute) -> (CellEntry, source: String?)
  ) -> CellEntry {
    let routes = routes(below: entity)
    var isPrivateColumn = true
    let routed = routes.map { route in
      let (entry, sourceProperty) = entry(route)
      if let sourceProperty, !isPrivate(sourceProperty, of: route.source, to: routes) { isPrivateColumn = false }
      return RoutedEntry(route: route, entry: entry)
    }
    return TableTransfer.combine(routed, in: tree, isPrivate: isPrivateColumn)
  }
}

// MARK: - Attributes

extension TreePlanner {
  private func attributeEntry(
    _ path: [String], declaredBy entity: String, column name: String, of table: PhysicalTable
  ) -> CellEntry {
    guard let first = path.first, let attribute = destination.model.attribute(named: first, of: entity) else {
      return .null
    }
    let backfill = DerivedBackfill(crossing: crossing, isAnew: recomputes)
    // The values of rows without a source column, as long as no row has one.
    var values: Set<CellEntry>? = []
    let combined = combine(first, declaredBy: entity) { route in
      if backfill.isComputed(attribute, declaredBy: entity, in: route) {
        values = nil
        return (.null, nil)
      }
      let given = route.properties.value(forLongestBeginningOf: path)
      if let given, given.rest.isEmpty, let compiled = route.compiled[given.key] {
        values = nil
        return (compiled, nil)
      }
      guard let target = destination.model.attributeTarget(given?.key ?? first, of: entity) else { return (.null, nil) }
      let elements = given?.rest ?? Array(path.dropFirst())
      let form = given?.value.form
      if case .constant(let value)? = form {
        let literal = Self.literal(value, of: target.description, at: elements)
        values?.insert(literal)
        return (literal, nil)
      }
      let derived = DerivedBackfill.source(of: attribute, in: route, model: source.model)?.name
      guard let sourceName = given?.value.sourceAttributeName ?? derived,
        let sourceAttribute = source.model.attribute(named: sourceName, of: route.source),
        let leaves = LeafPair(from: sourceAttribute, to: target, path: elements),
        let column = source.column(atPath: [sourceName] + leaves.sourcePath, in: route.source)?.name
      else {
        if decided.computed.value(atPath: path, of: entity, in: route.source) != nil {
          values = nil
          let leaf = destination.column(atPath: path, in: entity)?.attribute ?? attribute
          let given = decided.apply(
            to: .null, stored: CellEntry.null.sql, path: path, of: entity, in: route.source, leaf: leaf,
            where: companionValue(atPath: path, of: entity, route))
          return (given, nil)
        }
        if let given = decided.missingValue(atPath: path, of: entity) {
          // Only the rows of the decision get the value.
          values = nil
          let literal = Self.literal(
            given, of: destination.column(atPath: path, in: entity)?.attribute ?? attribute)
          let isThere = companionValue(atPath: path, of: entity, route)
          return (isThere.map { literal.inside("CASE WHEN \($0) THEN \(literal.sql) END") } ?? literal, nil)
        }
        let initial = Self.initialValue(of: attribute, path: path.dropFirst())
        values?.insert(initial)
        return (initial, nil)
      }
      values = nil
      let isThere = companionValue(atPath: path, of: entity, route)
      let value = converted(column, leaves, as: form, path: path, of: entity, in: route.source, where: isThere)
      return (value.from(column), sourceName)
    }
    // Core Data fills a new column in every row, whatever its entity.
    guard let value = values?.first, values?.count == 1, !mustDiffer(name, in: table) else { return combined }
    return value
  }

  private func converted(
    _ column: String, _ leaves: LeafPair, as form: PropertyMapping.Form?, path: [String], of entity: String,
    in source: String, where condition: String?
  ) -> CellEntry {
    let stored = "s.\(quote(column))"
    func decide(_ entry: CellEntry) -> CellEntry {
      decided.apply(
        to: entry, stored: stored, path: path, of: entity, in: source, leaf: leaves.destination, where: condition)
    }
    func converted(mustFill: Bool) -> CellEntry {
      decide(
        ValueConversion.entry(column: stored, from: leaves.source, to: leaves.destination, mustFill: mustFill))
    }
    switch form {
    case .steppedAttribute(_, let steps)?:
      return decide(ValueConversion.entry(column: stored, from: leaves, through: steps))
    case .filledAttribute(_, let value)?:
      let fallback = ValueConversion.literal(value, for: leaves.destination)
      let given = converted(mustFill: false)
      return given.inside("COALESCE(\(given.sql), \(fallback))")
    default: return converted(mustFill: leaves.mustFill)
    }
  }

  /// Only rows whose composite has a value get a leaf's decided value.
  private func companionValue(atPath path: [String], of entity: String, _ route: EntityRoute) -> String? {
    let columns = decided.companions(atPath: path, of: entity, in: route.source).compactMap {
      source.column(atPath: $0, in: route.source)?.name
    }
    return columns.isEmpty ? nil : "(\(columns.map { "s.\(quote($0)) IS NOT NULL" }.chained(by: "OR")))"
  }

  /// Some indexes must not contain rows of entities without the attribute.
  private func mustDiffer(_ column: String, in table: PhysicalTable) -> Bool {
    destination.indexes.contains { index in
      guard index.table == table.name, index.columns.contains(column) else { return false }
      return index.ordering?.first == "UNIQUE" || index.ordering == nil
    }
  }

  private static func literal(
    _ value: AttributeValue?, of attribute: AttributeDescription, at path: [String] = []
  ) -> CellEntry {
    var value = value
    for name in path { value = value?.elements?[name] }
    guard let value, let leaf = attribute.element(atPath: path) else { return .null }
    return CellEntry(sql: ValueConversion.literal(value, for: leaf), isVerbatim: false)
  }

  /// Rows that are older than the attribute get its default.
  private static func initialValue(of attribute: AttributeDescription, path: some Sequence<String>) -> CellEntry {
    guard let leaf = attribute.element(atPath: path), let value = leaf.defaultValue else { return .null }
    return CellEntry(sql: ValueConversion.literal(value, for: leaf), isVerbatim: false)
  }
}

// MARK: - Relationships

extension TreePlanner {
  private mutating func keyEntry(
    _ name: String, declaredBy entity: String
  ) -> (key: CellEntry, entity: CellEntry) {
    guard let relationship = destination.model.relationship(named: name, of: entity) else { return (.null, .null) }
    let inverse = destination.model.storedInverse(of: relationship)
    // The two keys of a one-to-one pair must agree, so only such a pair of the source is copied.
    let mustMatch = inverse.map { !$0.relationship.isToMany } ?? false
    var keys: [RoutedEntry] = []
    var entities: [RoutedEntry] = []
    var isPrivateColumn = true
    let routes = routes(below: entity)
    // A key holds one link of a row, so links from several relationships must be collected first.
    let union = crossing.links(of: relationship, declaredBy: entity)
    let isCopied = union.map { mustMatch ? $0.parts.count == 1 : $0.isOwn } ?? false
    for route in routes {
      let sourceName = route.properties[name]?.sourceRelationshipName
      if isCopied, let sourceName, let copied = copiedKey(sourceName, of: route, to: relationship, mustMatch: mustMatch)
      {
        keys.append(RoutedEntry(route: route, entry: copied.key))
        entities.append(RoutedEntry(route: route, entry: copied.entity))
        if !isPrivate(sourceName, of: route.source, to: routes) { isPrivateColumn = false }
      } else {
        let gathered = gatheredKey(relationship, declaredBy: entity, isOfPairs: mustMatch)
        keys.append(RoutedEntry(route: route, entry: gathered.0))
        entities.append(RoutedEntry(route: route, entry: gathered.1))
      }
    }
    return (
      TableTransfer.combine(keys, in: tree, isPrivate: isPrivateColumn),
      TableTransfer.combine(entities, in: tree, isPrivate: isPrivateColumn)
    )
  }

  /// `nil` unless the source stores the relationship in the same row.
  private func copiedKey(
    _ sourceName: String, of route: EntityRoute, to relationship: RelationshipDescription, mustMatch: Bool
  ) -> (key: CellEntry, entity: CellEntry)? {
    guard let sourceRelationship = source.model.relationship(named: sourceName, of: route.source),
      case .key(_, let column, let entityColumn) = source.storage(ofRelationship: sourceName, in: route.source)
    else { return nil }
    if mustMatch {
      let inverse = source.model.storedInverse(of: sourceRelationship)
      guard let inverse, !inverse.relationship.isToMany else { return nil }
    }
    let targets = LinkTargets(from: sourceRelationship, of: route.source, to: relationship, in: crossing)
    guard !targets.surviving.isEmpty else { return (.null, .null) }
    let key = "s.\(quote(column))"
    let numberOfKey = targetNumber(key: key, entityColumn: entityColumn, targets: targets)
    let surviving = targets.surviving.map { String($0.sourceNumber) }.joined(separator: ", ")
    let keyEntry =
      targets.isComplete
      ? CellEntry(sql: key, isVerbatim: true)
      : CellEntry(
        sql: "CASE WHEN \(numberOfKey) IN (\(surviving)) THEN \(targets.moved(key)) END", isVerbatim: false)
    let renumbered = CellEntry.renumbering(numberOfKey, targets.numbers)
    let entityEntry =
      entityColumn != nil && targets.isComplete
      ? renumbered
      : CellEntry(
        sql: "CASE WHEN \(key) IS NOT NULL AND \(numberOfKey) IN (\(surviving)) THEN \(renumbered.sql) END",
        isVerbatim: false)
    return (keyEntry.from(column), entityEntry.from(entityColumn))
  }

  private func targetNumber(key: String, entityColumn: String?, targets: LinkTargets) -> String {
    if let entityColumn, !targets.areReadByKey { return "s.\(quote(entityColumn))" }
    return "(SELECT t.\(quote(PhysicalName.entity)) FROM \(SchemaName.rows(of: targets.sourceTable, as: "t"))"
      + " WHERE t.\(quote(PhysicalName.primaryKey)) = \(key))"
  }

  /// Takes the link with the lowest primary key.
  private mutating func gatheredKey(
    _ relationship: RelationshipDescription, declaredBy entity: String, isOfPairs: Bool
  ) -> (CellEntry, CellEntry) {
    var isReversed = false
    let table: LinkTables.Table?
    if isOfPairs {
      let pairs = links.pairs(of: relationship, declaredBy: entity, in: crossing)
      (table, isReversed) = (pairs?.table, pairs?.isReversed ?? false)
    } else {
      table = links.table(for: relationship, of: entity, in: crossing)
    }
    guard let table else { return (.null, .null) }
    let (own, other) = isReversed ? ("target", "owner") : ("owner", "target")
    let tail =
      "FROM temp.\(quote(table.name)) AS l WHERE l.\(own) = \(ownKey)"
      + " ORDER BY l.\(other) LIMIT 1)"
    return (
      CellEntry(sql: "(SELECT l.\(other) \(tail)", isVerbatim: false),
      CellEntry(sql: "(SELECT l.\(other)_entity \(tail)", isVerbatim: false)
    )
  }

  private mutating func inverselessKeyEntry(_ name: String, declaredBy entity: String) -> CellEntry {
    guard let relationship = destination.model.relationship(named: name, of: entity) else { return .null }
    return gatheredBackwards(relationship, declaredBy: entity)
  }

  private mutating func gatheredBackwards(
    _ relationship: RelationshipDescription, declaredBy entity: String
  ) -> CellEntry {
    guard let table = links.table(forInverseless: relationship, of: entity, in: crossing) else { return .null }
    // From the rows that hold the key, the row is the target and the key is the owner.
    return CellEntry(
      sql: "(SELECT l.target FROM temp.\(quote(table.name)) AS l WHERE l.owner = \(ownKey)"
        + " ORDER BY l.target LIMIT 1)", isVerbatim: false)
  }

  /// Positions that the source stores elsewhere are numbered once the rows exist.
  private func orderEntry(_ name: String, declaredBy entity: String) -> CellEntry {
    guard let column = copiedOrderColumn(name, declaredBy: entity) else { return .null }
    return CellEntry(sql: "s.\(quote(column))", isVerbatim: true).from(column)
  }

  func copiedOrderColumn(_ name: String, declaredBy entity: String) -> String? {
    let owners = destination.model.entityTree(from: entity).compactMap { routing.byDestination[$0.name] }
    let columns = Set(
      owners.map { route -> String? in
        guard let sourceName = route.properties[name]?.sourceRelationshipName,
          let storage = source.storage(ofRelationship: sourceName, in: route.source)
        else { return nil }
        switch storage {
        case .inverseKey(let table, _, _, let orderColumn), .inverselessKey(let table, _, let orderColumn):
          return table == tree.sourceRoot.flatMap { source.table(ofEntity: $0)?.name } ? orderColumn : nil
        case .key, .join: return nil
        }
      })
    guard columns.count == 1, let relationship = destination.model.relationship(named: name, of: entity),
      crossing.links(of: relationship, declaredBy: entity)?.parts.count == 1
    else { return nil }
    return columns.first ?? nil
  }
}
