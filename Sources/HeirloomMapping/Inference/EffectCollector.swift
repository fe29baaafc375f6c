import HeirloomModel

/// Merges effects of the same kind and property.
struct EffectCollector {
  private struct Head: Hashable {
    let kind: DataEffect.Kind
    let entity: String
    let properties: [String]
  }

  private var rows: [Head: [DataEffect.Rows]] = [:]

  mutating func add(
    _ kind: DataEffect.Kind, entity: String, properties: [String] = [], rows added: [DataEffect.Rows]
  ) {
    rows[Head(kind: kind, entity: entity, properties: properties), default: []] += added
  }

  func sorted() -> [DataEffect] {
    rows.map { head, rows in
      DataEffect(
        kind: head.kind, entity: head.entity, properties: head.properties,
        rows: rows.ordered { [$0.entity, $0.destinationEntity ?? ""] })
    }.ordered(by: \.sortKey)
  }
}

extension DataEffect {
  fileprivate var sortKey: [String] {
    [entity] + [properties.joined(separator: "\u{1}"), kind.code, rows.first?.entity ?? "", "\(kind)"]
  }
}
