import HeirloomModel

/// Each column that an object uses has a slot, numbered from 0.
///
/// Attributes come first, then keys, then the columns that other entities' relationships keep in
/// the row.
final class EntityPlan {
  let entity: PhysicalEntity
  let rootNumber: Int
  let slotCount: Int
  /// In the order of their slots.
  let columns: [String]
  let kinds: [SlotKind]
  /// In the order of their slots; the names of a path are joined by points.
  let attributes: [(path: String, description: AttributeDescription)]
  /// Sorted by name, transient ones left out.
  let relationships: [PlannedRelationship]
  let keys: [PlannedKey]
  let composites: [AttributeDescription]
  let compositePaths: Set<String>
  let required: [(property: String, slot: Int)]
  let ruledSlots: [Int]
  let countedRelationships: [PlannedRelationship]
  let template: [SQLiteValue?]
  let hasInitialValues: Bool
  /// Qualified by `RowSelection.alias`: the number of saves, then the slots.
  let selectedColumns: String
  let selection: String
  let writer: RowWriter

  /// `nil` if reads aren't recorded.
  @exclusivity(unchecked) var reads: PropertyReads?
  /// `nil` if changes aren't recorded.
  @exclusivity(unchecked) var edits: ObjectEdits?

  private let names: NameTable
  private let attributeCount: Int
  private let properties: [Property]
  private let slotsByColumn: [String: Int]

  struct SlotKind {
    let type: AttributeType
    /// Values have the tag of external data.
    let isExternal: Bool
    let isDerived: Bool
    let isText: Bool

    init(type: AttributeType, isExternal: Bool, isDerived: Bool) {
      self.type = type
      self.isExternal = isExternal
      self.isDerived = isDerived
      isText = type.isText
    }
  }

  enum Property {
    case attribute(slot: Int)
    case relationship(Int)
    case transient
  }

  init?(_ name: String, of store: PersistentStore) {
    let schema = store.schema
    let model = schema.model
    guard let entity = schema.entity(named: name), let root = schema.entity(named: entity.rootName) else { return nil }
    var parts = Parts()
    for attribute in model.attributes(of: name) { parts.add(attribute, of: name, schema) }
    for relationship in model.relationships(of: name) { parts.addKey(of: relationship, of: name, schema) }
    for column in schema.table(named: entity.table)?.columns ?? [] {
      switch column.role {
      case .inverselessKey, .order: parts.addColumn(column.name)
      default: continue
      }
    }
    self.entity = entity
    rootNumber = root.number
    columns = parts.columns
    slotCount = parts.columns.count
    kinds = parts.kinds
    attributes = parts.attributes
    attributeCount = parts.attributes.count
    composites = model.attributes(of: name).filter { $0.composite != nil && !$0.isTransient }
    compositePaths = parts.compositePaths
    required = parts.required
    template = parts.template
    hasInitialValues = parts.template.contains { $0 != nil }
    let slots = Dictionary(zip(parts.columns, 0...), uniquingKeysWith: { first, _ in first })
    slotsByColumn = slots
    relationships = model.relationships(of: name).ordered { $0.name < $1.name }.compactMap { relationship in
      PlannedRelationship(relationship, in: name, slots: slots, schema: schema)
    }
    keys = relationships.map { PlannedKey($0) }
    ruledSlots = parts.attributes.indices.filter { !parts.attributes[$0].description.validationRules.isEmpty }
    countedRelationships = relationships.filter {
      $0.description.isToMany && ($0.description.minCount > 0 || $0.description.maxCount > 1)
    }
    var names = attributes.indices.map { (name: parts.attributes[$0].path, number: $0) }
    var properties = attributes.indices.map { Property.attribute(slot: $0) }
    for (index, relationship) in relationships.enumerated() {
      names.append((relationship.name, properties.count))
      properties.append(.relationship(index))
    }
    for transient in parts.transientNames {
      names.append((transient, properties.count))
      properties.append(.transient)
    }
    self.names = NameTable(names)
    self.properties = properties
    let alias = RowSelection.alias
    selectedColumns = ([PhysicalName.optimisticLock] + columns).map { "\(alias).\(quote($0))" }.joined(separator: ", ")
    selection =
      "SELECT \(selectedColumns) FROM \(store.qualified(entity.table)) AS \(alias)"
      + " WHERE \(alias).\(quote(PhysicalName.primaryKey)) = ?1 AND \(entity.numberSQL(ofRow: alias)) = ?2"
    writer = RowWriter(entity: entity, columns: columns, kinds: kinds, store: store)
  }

  // MARK: Names

  /// An element of a composite attribute is named by its path, `place.city`.
  func property(_ name: String) -> Property? {
    let number = names.number(of: name)
    return number < 0 ? nil : properties[number]
  }

  /// An index is the property's number: attributes' paths, then relationships' names.
  var propertyNames: [String] { attributes.map(\.path) + relationships.map(\.name) }

  func attributeSlot(_ name: String) -> Int? {
    let number = storedSlot(name)
    return number < 0 ? nil : number
  }

  @inline(__always)
  func storedSlot(_ name: String) -> Int {
    let number = names.number(of: name)
    return number < kinds.count && number < attributeCount ? number : -1
  }

  func relationship(_ name: String) -> PlannedRelationship? {
    // The names of relationships follow those of attributes.
    let position = names.number(of: name) - attributes.count
    return position >= 0 && position < relationships.count ? relationships[position] : nil
  }

  @inline(__always)
  func relationshipPosition(_ name: String) -> Int {
    let position = names.number(of: name) - attributeCount
    return position < keys.count ? position : -1
  }

  func slot(ofColumn column: String) -> Int? { slotsByColumn[column] }

  // MARK: Parts

  private struct Parts {
    var columns: [String] = []
    var kinds: [SlotKind] = []
    var attributes: [(path: String, description: AttributeDescription)] = []
    var compositePaths: Set<String> = []
    var transientNames: [String] = []
    var required: [(property: String, slot: Int)] = []
    var template: [SQLiteValue?] = []

    mutating func add(_ attribute: AttributeDescription, of entity: String, _ schema: PhysicalSchema) {
      if attribute.isTransient { transientNames.append(attribute.name) }
      for column in schema.columns(ofAttribute: attribute.name, in: entity) {
        for count in 1..<max(1, column.path.count) {
          compositePaths.insert(column.path.prefix(count).joined(separator: "."))
        }
        let leaf = column.attribute
        let isDerived = leaf.derivation != nil
        // An optional composite may lack all its elements.
        let mayLack = (1...column.path.count).contains { count in
          attribute.element(atPath: column.path[1..<count])?.isOptional ?? true
        }
        if !mayLack, !isDerived { required.append((column.path.joined(separator: "."), columns.count)) }
        attributes.append((column.path.joined(separator: "."), leaf))
        columns.append(column.name)
        kinds.append(
          SlotKind(
            type: leaf.type, isExternal: leaf.allowsExternalBinaryDataStorage, isDerived: isDerived))
        let value = leaf.defaultValue.flatMap { isDerived ? nil : try? ValueCoding.encode($0, for: leaf) }
        template.append(value)
      }
    }

    mutating func addKey(of relationship: RelationshipDescription, of entity: String, _ schema: PhysicalSchema) {
      guard let storage = schema.storage(ofRelationship: relationship.name, in: entity) else {
        transientNames.append(relationship.name)
        return
      }
      guard case .key(_, let column, let entityColumn) = storage else { return }
      if !relationship.isOptional { required.append((relationship.name, columns.count)) }
      addColumn(column)
      if let entityColumn { addColumn(entityColumn) }
    }

    mutating func addColumn(_ name: String) {
      guard !columns.contains(name) else { return }
      columns.append(name)
      kinds.append(SlotKind(type: .objectID, isExternal: false, isDerived: false))
      template.append(nil)
    }
  }
}
