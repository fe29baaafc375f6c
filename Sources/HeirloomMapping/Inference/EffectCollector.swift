import HeirloomModel

/// A collector of losses, blockers and warnings that groups those of one kind and property.
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

  /// Returns them sorted by entity, properties and kind.
  func sorted() -> [DataEffect] {
    rows.map { head, rows in
      DataEffect(
        kind: head.kind, entity: head.entity, properties: head.properties,
        rows: rows.sorted {
          [$0.entity, $0.destinationEntity ?? ""].utf16Precedes([$1.entity, $1.destinationEntity ?? ""])
        })
    }.sorted { $0.sortKey.utf16Precedes($1.sortKey) }
  }
}

extension DataEffect {
  fileprivate var sortKey: [String] {
    [entity] + [properties.joined(separator: "\u{1}"), kind.code, rows.first?.entity ?? "", "\(kind)"]
  }
}

extension [String] {
  /// Tells whether this list comes before another, compared element by element.
  package func utf16Precedes(_ other: [String]) -> Bool {
    lexicographicallyPrecedes(other) { $0.utf16Precedes($1) }
  }
}
