/// The links of the relationships that continue a source's, found once for each.
final class HeirLinks {
  private let matching: Matching
  private let links: Links
  private var all: [Layout.Name: Set<Link>] = [:]
  private var own: [Layout.Name: Set<Link>] = [:]
  private var places: [Layout.Name: [Link: Int64]] = [:]

  init(_ matching: Matching, _ links: Links) {
    (self.matching, self.links) = (matching, links)
  }

  /// By either side's account, in objects of a source entity.
  func contain(_ link: Link, of relationship: XMLModel.Relationship, in entity: String?) -> Bool {
    guard let name = heir(of: relationship, in: entity) else { return false }
    if all[name] == nil { all[name] = links.all(of: name) }
    return all[name]?.contains(link) ?? false
  }

  /// By its own account, in objects of a source entity.
  func containOwn(_ link: Link, of relationship: XMLModel.Relationship, in entity: String?) -> Bool {
    guard let name = heir(of: relationship, in: entity) else { return false }
    if own[name] == nil { own[name] = links.own(of: name) }
    return own[name]?.contains(link) ?? false
  }

  /// Returns `nil` if the relationship's heir has no such link or no order.
  func place(of link: Link, _ relationship: XMLModel.Relationship, in entity: String?) -> Int64? {
    guard let name = heir(of: relationship, in: entity) else { return nil }
    if places[name] == nil { places[name] = links.places(of: name) }
    return places[name]?[link]
  }

  private func heir(of relationship: XMLModel.Relationship, in entity: String?) -> Layout.Name? {
    guard let entity, let heir = matching.heir(of: relationship, in: entity) else { return nil }
    return Layout.Name(entity: heir.entity, property: heir.property.name)
  }
}
