import HeirloomFormats
import HeirloomModel
import HeirloomStore

struct SampleValues {
  struct Column {
    let attribute: AttributeDescription
    let values: [AttributeValue]
    /// The index of the first object's value.
    let start: Int
    /// Every how many objects one has no value; 0 for none.
    let gap: Int

    /// The number of objects before `number` that have no value.
    func gaps(before number: Int, at index: Int) -> Int {
      gap > 0 ? (number + index + gap - 2) / gap - (index + gap - 2) / gap : 0
    }
  }

  private(set) var notes: [String] = []

  private let model: ManagedObjectModel
  /// By constraint.
  private var taken: [[String]: Set<[String]>] = [:]

  init(model: ManagedObjectModel) {
    self.model = model
  }

  mutating func columns(of entity: String, using random: inout SplitMix64) -> [Column] {
    model.attributes(of: entity).filter(\.isSampled).enumerated().map { index, attribute in
      let values = attribute.sampleValues(using: &random)
      if values.isEmpty {
        notes.append(
          "No value was found that \"\(entity).\(attribute.name)\" allows\(attribute.isOptional ? "; it has none" : "")."
        )
      }
      return Column(
        attribute: attribute, values: values, start: random.below(max(1, values.count)),
        gap: attribute.isOptional ? 4 + index % 3 : 0)
    }
  }

  /// `nil` if a required value can't be created.
  mutating func object(
    of entity: String, number: Int, columns: [Column]
  ) -> SampleObjects.Plan? {
    var plan = SampleObjects.Plan(entity: entity)
    for (index, column) in columns.enumerated() {
      guard !column.values.isEmpty else {
        if !column.attribute.isOptional { return nil }
        continue
      }
      if column.gap > 0, (number + index) % column.gap == 1 { continue }
      // If objects without a value counted, the same values could be skipped each time.
      let turn = number - column.gaps(before: number, at: index)
      plan.values[column.attribute.name] = column.values[(column.start + turn) % column.values.count]
    }
    return makeUnique(&plan, number: number, columns) ? plan : nil
  }

  /// Replaces values that must differ from all others'; returns false if none is found.
  private mutating func makeUnique(_ plan: inout SampleObjects.Plan, number: Int, _ columns: [Column]) -> Bool {
    // An index of inherited properties covers the rows of all subentities.
    let root = model.rootEntity(of: plan.entity)?.name ?? plan.entity
    let constraints = model.entityTree(from: root).flatMap { owner in
      owner.uniquenessConstraints.map { (name: [root] + $0, properties: $0) }
    }
    for attempt in 0..<200 {
      let keys = constraints.map { key(of: plan, $0.properties) }
      let clash = constraints.indices.first { index in
        keys[index].map { taken[constraints[index].name, default: []].contains($0) } ?? false
      }
      guard let clash else {
        for (constraint, key) in zip(constraints, keys) {
          if let key { taken[constraint.name, default: []].insert(key) }
        }
        return true
      }
      let properties = constraints[clash].properties
      let column = columns.first { column in
        properties.contains(column.attribute.name) && plan.values[column.attribute.name] != nil
          && column.attribute.numbered(number, attempt: attempt) != nil
      }
      guard let column else { return false }
      plan.values[column.attribute.name] = column.attribute.numbered(number, attempt: attempt)
    }
    return false
  }

  /// `nil` if a value is missing; links are checked later.
  private func key(of plan: SampleObjects.Plan, _ properties: [String]) -> [String]? {
    var parts: [String] = []
    for property in properties {
      guard let attribute = model.attribute(named: property, of: plan.entity) else {
        if model.relationship(named: property, of: plan.entity) != nil { continue }
        return nil
      }
      guard let value = plan.values[property], let stored = try? ValueCoding.encode(value, for: attribute) else {
        return nil
      }
      // SQLite stores no sign of zero.
      parts.append(stored == .real(0) ? "real(0)" : "\(stored)")
    }
    return parts.isEmpty ? nil : parts
  }
}
