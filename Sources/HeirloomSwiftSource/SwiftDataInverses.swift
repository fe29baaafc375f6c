/// A property that is a relationship.
struct SwiftDataLink {
  let name: String
  /// The entity that it leads to.
  let target: String
  let place: SwiftPlace
  /// True if `@Relationship` stands before it.
  var hasMacro = false
  /// True if the macro names the inverse.
  var isExplicit = false
  var isOptional = false
  var inverse: String?
  /// The reason why the inverse isn't certain.
  var doubt: String?
}

/// The inverses of relationships: written, taken from the other side, or inferred as SwiftData infers them.
struct SwiftDataInverses {
  /// The links of each entity.
  private(set) var links: [String: [SwiftDataLink]]

  init(links: [String: [SwiftDataLink]]) {
    self.links = links
  }

  /// Finds all inverses.
  mutating func resolve() {
    for entity in links.keys.sorted(by: <) { mirror(entity) }
    for entity in links.keys.sorted(by: <) {
      for index in links[entity, default: []].indices { infer(entity, index) }
    }
  }

  private func position(_ name: String, of entity: String) -> Int? {
    links[entity]?.firstIndex { $0.name == name }
  }

  /// Gives the other side of a written inverse its own.
  private mutating func mirror(_ entity: String) {
    for (index, link) in (links[entity] ?? []).enumerated() where link.isExplicit {
      guard let name = link.inverse, let other = position(name, of: link.target) else {
        links[entity]?[index].doubt = "its inverse \"\(link.inverse ?? "")\" is no relationship of \(link.target)"
        continue
      }
      let known = links[link.target]?[other].inverse
      if let known, known != link.name || links[link.target]?[other].target != entity {
        links[entity]?[index].doubt = "its inverse \"\(name)\" has another inverse, \"\(known)\""
        continue
      }
      links[link.target]?[other].inverse = link.name
    }
  }

  /// Infers the inverse of a link where neither side has the macro and each is the only one.
  private mutating func infer(_ entity: String, _ index: Int) {
    guard let link = links[entity]?[index], link.inverse == nil, link.doubt == nil, !link.hasMacro else { return }
    let back = (links[link.target] ?? []).filter { $0.target == entity && $0.inverse == nil }
    // What the macro stands before without an inverse stays alone, and so does what could be its other side.
    guard !back.isEmpty, !(back.count == 1 && back[0].hasMacro) else { return }
    let own = (links[entity] ?? []).filter { $0.target == link.target && $0.inverse == nil }
    guard entity != link.target, back.count == 1, own.count == 1 else {
      links[entity]?[index].doubt = "more than one inverse is possible, and no known store shows which is taken"
      return
    }
    guard link.isOptional || back[0].isOptional else {
      links[entity]?[index].doubt =
        "both sides are required, and no known store shows whether an inverse is inferred then"
      return
    }
    guard let other = position(back[0].name, of: link.target) else { return }
    links[entity]?[index].inverse = back[0].name
    links[link.target]?[other].inverse = link.name
  }
}
