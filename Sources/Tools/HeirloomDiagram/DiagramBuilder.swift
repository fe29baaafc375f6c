package import Heirloom
package import HeirloomCompare

package struct DiagramBuilder {
  private let model: ManagedObjectModel
  private let difference: ModelDifference?
  /// By entity and property, named as in `ModelChange`.
  private var changes: [Subject: [ModelChange]] = [:]
  /// The destination names of renamed entities, by their source names.
  private var heirs: [String: String] = [:]
  private var diagram: ModelDiagram
  private var positions: [String: Int] = [:]

  private struct Subject: Hashable {
    let entity: String
    let property: String?
  }

  private struct Line {
    let model: ManagedObjectModel
    let entity: EntityDescription
    let relationship: RelationshipDescription
    let box: Int
    var row: Int
  }

  private var lines: [Line] = []

  private init(model: ManagedObjectModel, difference: ModelDifference?, title: String) {
    self.model = model
    self.difference = difference
    diagram = ModelDiagram(title: title, isDifference: difference != nil)
    for change in difference?.changes ?? [] {
      guard let entity = change.entity else { continue }
      changes[Subject(entity: entity, property: change.property), default: []].append(change)
      if change.kind == .entityRenamed, let before = change.before { heirs[before] = entity }
    }
  }

  package static func diagram(of model: ManagedObjectModel, title: String) -> ModelDiagram {
    var builder = DiagramBuilder(model: model, difference: nil, title: title)
    return builder.build()
  }

  /// Has the destination's content, and what was removed from the source.
  package static func diagram(of difference: ModelDifference, title: String) -> ModelDiagram {
    var builder = DiagramBuilder(model: difference.destination, difference: difference, title: title)
    return builder.build()
  }

  private mutating func build() -> ModelDiagram {
    for entity in model.entities { add(entity) }
    if let source = difference?.source { addRemoved(of: source) }
    addRelationships()
    addInheritance()
    return diagram
  }

  // MARK: Boxes

  private mutating func add(_ entity: EntityDescription) {
    // A removed entity may have had the same name.
    let own = (changes[Subject(entity: entity.name, property: nil)] ?? []).filter { $0.kind != .entityRemoved }
    var box = ModelDiagram.Box(name: entity.name, superentity: entity.superentity, isAbstract: entity.isAbstract)
    (box.mark, box.formerName, box.details) = Self.outcome(own)
    for attribute in entity.attributes {
      append(attribute, of: entity, path: [attribute.name], isOptional: attribute.isOptional, to: &box)
    }
    for relationship in entity.relationships {
      var row = Self.row(relationship)
      mark(&row, in: entity.name)
      lines.append(
        Line(
          model: model, entity: entity, relationship: relationship, box: diagram.boxes.count, row: box.rows.count))
      box.rows.append(row)
    }
    for property in entity.fetchedProperties {
      var row = ModelDiagram.Row(
        kind: .fetchedProperty, name: property.name, type: "[\(property.fetchRequest.entityName)]",
        features: ["fetched"], path: [property.name])
      mark(&row, in: entity.name)
      box.rows.append(row)
    }
    positions[entity.name] = diagram.boxes.count
    diagram.boxes.append(box)
  }

  private func append(
    _ attribute: AttributeDescription, of entity: EntityDescription, path: [String], isOptional: Bool,
    to box: inout ModelDiagram.Box
  ) {
    var row = Self.row(attribute, path: path)
    if path.count == 1, entity.uniquenessConstraints.contains(where: { $0.contains(attribute.name) }) {
      row.features.insert("unique", at: 0)
    }
    mark(&row, in: entity.name)
    box.rows.append(row)
    for element in attribute.composite?.elements ?? [] {
      append(element, of: entity, path: path + [element.name], isOptional: isOptional, to: &box)
    }
  }

  private static func row(_ attribute: AttributeDescription, path: [String]) -> ModelDiagram.Row {
    var row = ModelDiagram.Row(
      kind: path.count == 1 ? .attribute : .element, name: attribute.name,
      type: attribute.type.name + (attribute.isOptional ? "?" : ""), depth: path.count - 1, path: path)
    if attribute.derivation != nil { row.features.append("derived") }
    if attribute.isTransient { row.features.append("transient") }
    return row
  }

  private static func row(_ relationship: RelationshipDescription) -> ModelDiagram.Row {
    let name = relationship.destinationEntity
    var row = ModelDiagram.Row(
      kind: .relationship, name: relationship.name,
      type: relationship.isToMany ? "[\(name)]" : name + (relationship.isOptional ? "?" : ""),
      path: [relationship.name])
    if relationship.isToMany, relationship.isOrdered { row.features.append("ordered") }
    if relationship.isTransient { row.features.append("transient") }
    return row
  }

  private func mark(_ row: inout ModelDiagram.Row, in entity: String) {
    let own = changes[Subject(entity: entity, property: row.path.joined(separator: "."))] ?? []
    (row.mark, row.formerName, row.details) = Self.outcome(own.filter { !$0.kind.removesProperty })
    guard let change = own.first(where: { $0.kind == .typeChanged }), let before = change.before else { return }
    row.type = "\(before) → \(row.type)"
  }

  /// The mark, the former name, and a phrase for each change.
  private static func outcome(_ changes: [ModelChange]) -> (ModelDiagram.Mark, String?, [String]) {
    var mark = ModelDiagram.Mark.unchanged
    var formerName: String?
    for change in changes {
      switch change.kind {
      case .entityAdded, .attributeAdded, .relationshipAdded, .fetchedPropertyAdded, .elementAdded: mark = .added
      case .entityRenamed, .attributeRenamed, .relationshipRenamed, .elementRenamed:
        formerName = change.before
        if mark == .unchanged || mark == .changed { mark = .renamed }
      default: if mark == .unchanged { mark = .changed }
      }
    }
    return (mark, formerName, changes.map(\.sentence))
  }

  // MARK: Removals

  private mutating func addRemoved(of source: ManagedObjectModel) {
    for change in difference?.changes ?? [] where change.kind.removesProperty {
      guard let entity = change.entity, let property = change.property, let box = positions[entity] else { continue }
      let formerName = diagram.boxes[box].formerName ?? entity
      addRemoved(property, of: formerName, to: box, in: source, details: [change.sentence])
    }
    for entity in source.entities
    where changes[Subject(entity: entity.name, property: nil)]?.contains(where: {
      $0.kind == .entityRemoved
    }) ?? false {
      var box = ModelDiagram.Box(
        name: entity.name, superentity: entity.superentity.map { heirs[$0] ?? $0 }, isAbstract: entity.isAbstract)
      box.mark = .removed
      box.details = ["entity removed"]
      let position = diagram.boxes.count
      for attribute in entity.attributes {
        append(attribute, of: entity, path: [attribute.name], isOptional: attribute.isOptional, to: &box)
      }
      for relationship in entity.relationships {
        lines.append(
          Line(model: source, entity: entity, relationship: relationship, box: position, row: box.rows.count))
        box.rows.append(Self.row(relationship))
      }
      for row in box.rows.indices { (box.rows[row].mark, box.rows[row].details) = (.unchanged, []) }
      removed[entity.name] = position
      diagram.boxes.append(box)
    }
  }

  /// Indices of boxes, by entity.
  private var removed: [String: Int] = [:]

  private mutating func addRemoved(
    _ property: String, of entity: String, to box: Int, in source: ManagedObjectModel, details: [String]
  ) {
    let path = property.names(separatedBy: ".").map(String.init)
    var row: ModelDiagram.Row
    var line: (EntityDescription, RelationshipDescription)?
    if let attribute = source.attribute(named: property, of: entity) {
      row = Self.row(attribute, path: [property])
    } else if let relationship = source.relationship(named: property, of: entity) {
      row = Self.row(relationship)
      line = source.declaringEntity(ofProperty: property, in: entity).map { ($0, relationship) }
    } else if path.count > 1, let first = path.first, let name = path.last {
      let element = source.attribute(named: first, of: entity)?.element(atPath: path.dropFirst())
      row = ModelDiagram.Row(
        kind: .element, name: name, type: element.map { $0.type.name + ($0.isOptional ? "?" : "") } ?? "",
        depth: path.count - 1, path: path)
    } else {
      row = ModelDiagram.Row(kind: .fetchedProperty, name: property, type: "", features: ["fetched"], path: [property])
    }
    row.mark = .removed
    row.details = details
    // An element is inserted after the rest of its composite, anything else is appended, so other
    // lines' indices stay valid.
    if row.kind == .element,
      let last = diagram.boxes[box].rows.lastIndex(where: { $0.path.starts(with: path.dropLast()) })
    {
      diagram.boxes[box].rows.insert(row, at: last + 1)
      for index in lines.indices where lines[index].box == box && lines[index].row > last {
        lines[index].row += 1
      }
      return
    }
    if let line {
      lines.append(
        Line(
          model: source, entity: line.0, relationship: line.1, box: box, row: diagram.boxes[box].rows.count))
    }
    diagram.boxes[box].rows.append(row)
  }

  // MARK: Lines

  private mutating func addRelationships() {
    var paired: Set<Int> = []
    for (index, line) in lines.enumerated() where !paired.contains(index) {
      guard let box = box(of: line.relationship.destinationEntity, in: line.model) else { continue }
      let cardinality = Self.cardinality(line.relationship)
      if let other = inverse(of: line, at: index, leadingTo: box), !paired.contains(other) {
        paired.insert(other)
        let inverse = lines[other]
        add(
          .init(
            kind: .relationship,
            start: .init(box: line.box, row: line.row, cardinality: Self.cardinality(inverse.relationship)),
            end: .init(box: inverse.box, row: inverse.row, cardinality: cardinality)))
      } else {
        add(
          .init(
            kind: .relationship, start: .init(box: line.box, row: line.row, cardinality: nil),
            end: .init(box: box, row: nil, cardinality: cardinality)))
      }
    }
  }

  /// Only if the relationships are mutual inverses and each points to the other's box.
  private func inverse(of line: Line, at index: Int, leadingTo box: Int) -> Int? {
    guard let found = line.model.inverse(of: line.relationship),
      let back = line.model.inverse(of: found.relationship), back.entity.name == line.entity.name,
      back.relationship.name == line.relationship.name
    else { return nil }
    return lines.indices.first { other in
      other > index && lines[other].box == box && lines[other].entity.name == found.entity.name
        && lines[other].relationship.name == found.relationship.name
        && self.box(of: found.relationship.destinationEntity, in: line.model) == line.box
    }
  }

  private func box(of entity: String, in model: ManagedObjectModel) -> Int? {
    guard model != self.model else { return positions[entity] }
    return removed[entity] ?? positions[heirs[entity] ?? entity]
  }

  private mutating func add(_ edge: ModelDiagram.Edge) {
    var edge = edge
    edge.mark = mark(of: edge)
    diagram.edges.append(edge)
  }

  /// The strongest mark of the line's rows, or of a box that was added or removed.
  private func mark(of edge: ModelDiagram.Edge) -> ModelDiagram.Mark {
    let marks = [edge.start, edge.end].flatMap { end in
      [diagram.boxes[end.box].mark].filter { $0 == .added || $0 == .removed }
        + (end.row.map { [diagram.boxes[end.box].rows[$0].mark] } ?? [])
    }
    for mark in [ModelDiagram.Mark.removed, .added, .renamed, .changed] where marks.contains(mark) { return mark }
    return .unchanged
  }

  private mutating func addInheritance() {
    for (index, box) in diagram.boxes.enumerated() {
      guard let parent = box.superentity, let position = positions[parent] ?? removed[parent] else { continue }
      let own = changes[Subject(entity: box.name, property: nil)] ?? []
      var edge = ModelDiagram.Edge(
        kind: .inheritance, start: .init(box: position, row: nil, cardinality: nil),
        end: .init(box: index, row: nil, cardinality: nil))
      edge.mark =
        box.mark == .added || box.mark == .removed
        ? box.mark : own.contains { $0.kind == .parentChanged } ? .changed : .unchanged
      diagram.edges.append(edge)
    }
  }

  private static func cardinality(_ relationship: RelationshipDescription) -> ModelDiagram.Cardinality {
    if relationship.isToMany { return relationship.isOptional ? .zeroOrMore : .oneOrMore }
    return relationship.isOptional ? .zeroOrOne : .exactlyOne
  }
}

extension ModelChange.Kind {
  /// True if the change names a source property that was removed.
  fileprivate var removesProperty: Bool {
    switch self {
    case .attributeRemoved, .relationshipRemoved, .fetchedPropertyRemoved, .elementRemoved,
      .attributeBecameRelationship, .relationshipBecameAttribute:
      true
    default: false
    }
  }
}
