/// Content of a previous version that the store lacks: its migration lost it without consent, or it was written to a
/// store that another one replaced.
public struct SoleContent: Hashable, Sendable, Codable {
  /// The kind of content: `objects`, `values`, `changedValues`, `links` or `order`.
  public let kind: String
  /// The entity that lost it.
  public let entity: String
  /// The property that lost it; `nil` for whole objects.
  public let property: String?
  /// The rows that lost something.
  public let rows: Int64

  package init(kind: String, entity: String, property: String?, rows: Int64) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.rows = rows
  }

  package func isSame(as other: SoleContent) -> Bool {
    (kind, entity, property) == (other.kind, other.entity, other.property)
  }
}

/// A previous version's sole content, cut to the space in a manifest.
package struct SoleContents: Equatable, Sendable, Codable {
  package let items: [SoleContent]
  package let unlistedCount: Int

  package init(_ all: [SoleContent]) {
    var room = VaultManifest.byteLimit / 2
    var items: [SoleContent] = []
    for item in all {
      let listed = SoleContent(
        kind: item.kind, entity: String(item.entity.prefix(255)),
        property: item.property.map { String($0.prefix(255)) },
        rows: item.rows)
      // JSON writes a control character as six bytes; the rest covers keys and numbers.
      room -= 6 * (listed.entity.utf8.count + (listed.property?.utf8.count ?? 0)) + 120
      guard room >= 0 else { break }
      items.append(listed)
    }
    self.items = items
    unlistedCount = all.count - items.count
  }

  var fields: [String?] {
    [String(unlistedCount)] + items.flatMap { [$0.kind, $0.entity, $0.property, String($0.rows)] }
  }
}
