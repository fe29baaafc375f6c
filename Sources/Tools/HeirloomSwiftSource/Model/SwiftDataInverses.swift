struct SwiftDataLink {
  let name: String
  let target: String
  let place: SwiftPlace
  var hasMacro = false
  var isExplicit = false
  var isOptional = false
  var isToMany = false
  var inverse: String?
  var doubt: String?

  /// `T?` or `[T]`, for which known stores have an inferred inverse.
  var isPlain: Bool { isOptional != isToMany }
}

/// The inverses of relationships: declared, taken from the other side, or inferred as SwiftData
/// does.
struct SwiftDataInverses {
  private(set) var links: [String: [SwiftDataLink]]
  /// Entities that may have further relationships.
  private let open: Set<String>
  /// Pairs of entities with an uncertain relationship between them.
  private var doubted: Set<Set<String>> = []

  private struct Side: Hashable, Comparable {
    let entity: String
    let name: String

    static func < (left: Side, right: Side) -> Bool { (left.entity, left.name) < (right.entity, right.name) }
  }

  private struct Way: Hashable {
    let entity: String
    let target: String
  }

  private var positions: [Side: Int] = [:]
  private var counts: [Way: Int] = [:]
  /// Positions of links without an inverse.
  private var free: [Way: [Int]] = [:]

  init(links: [String: [SwiftDataLink]], open: Set<String>) {
    (self.links, self.open) = (links, open)
    for (entity, links) in links {
      for (position, link) in links.enumerated() {
        positions[Side(entity: entity, name: link.name)] = position
        counts[Way(entity: entity, target: link.target), default: 0] += 1
      }
    }
  }

  mutating func resolve() {
    pair()
    for (entity, links) in links {
      for (position, link) in links.enumerated() {
        if link.doubt != nil { doubted.insert([entity, link.target]) }
        if link.inverse == nil { free[Way(entity: entity, target: link.target), default: []].append(position) }
      }
    }
    for entity in links.keys.sorted(by: <) {
      for index in links[entity, default: []].indices { infer(entity, index) }
    }
  }

  private mutating func doubt(_ side: Side, _ reason: String) {
    guard let position = positions[side], links[side.entity]?[position].doubt == nil else { return }
    links[side.entity]?[position].doubt = reason
  }

  // MARK: - Written inverses

  /// Sets the other side of each declared inverse, if there is exactly one.
  private mutating func pair() {
    var partners: [Side: Set<Side>] = [:]
    for entity in links.keys.sorted(by: <) {
      for link in links[entity] ?? [] where link.isExplicit {
        let (side, other) = (Side(entity: entity, name: link.name), Side(entity: link.target, name: link.inverse ?? ""))
        partners[side, default: []].insert(other)
        partners[other, default: []].insert(side)
      }
    }
    let sorted = partners.sorted { $0.key < $1.key }
    for (side, others) in sorted { judge(side, others.sorted()) }
    // A relationship with an uncertain inverse is uncertain too.
    let judged = links
    for (side, others) in sorted {
      guard let position = positions[side], let reason = judged[side.entity]?[position].doubt else { continue }
      for other in others { doubt(other, "its inverse \"\(side.name)\" isn't certain: \(reason)") }
    }
  }

  private mutating func judge(_ side: Side, _ others: [Side]) {
    guard let position = positions[side] else { return }
    guard others.count == 1 else {
      let names = NameList.text(others.map { "\($0.entity).\($0.name)" })
      let reason = "\(side.entity).\(side.name) has several inverses: \(names)"
      for one in [side] + others { doubt(one, reason) }
      return
    }
    let other = others[0]
    links[side.entity]?[position].inverse = other.name
    let target = positions[other].flatMap { links[other.entity]?[$0].target }
    if target == nil {
      doubt(side, "its inverse \"\(other.name)\" isn't a relationship of \(other.entity)")
    } else if let target, target != side.entity {
      doubt(side, "its inverse \"\(other.name)\" refers to \(target)")
    } else if side == other {
      doubt(side, "it is its own inverse, which no known store shows")
    }
  }

  // MARK: - Inference

  /// Infers the inverse of a link if neither side has the macro and each is the only candidate.
  private mutating func infer(_ entity: String, _ index: Int) {
    guard let link = links[entity]?[index], link.inverse == nil, link.doubt == nil else { return }
    if let reason = objection(to: link, of: entity) {
      links[entity]?[index].doubt = reason
      return
    }
    guard !link.hasMacro else { return }
    let (way, back) = (Way(entity: entity, target: link.target), Way(entity: link.target, target: entity))
    // A property with the macro but without an inverse stays without one, and so does its possible
    // other side.
    guard let candidates = free[back], let other = candidates.first, let partner = links[link.target]?[other],
      !(candidates.count == 1 && partner.hasMacro)
    else { return }
    // No known store shows what is inferred next to a declared inverse.
    guard candidates.count == 1, counts[way] == 1 else {
      links[entity]?[index].doubt = "more than one inverse is possible, and no known store shows which one is inferred"
      return
    }
    // `A?` and `B?`, or `A?` and `[B]`.
    guard link.isPlain, partner.isPlain, !link.isToMany || !partner.isToMany else {
      links[entity]?[index].doubt =
        "no known store shows whether an inverse is inferred between properties of these types"
      return
    }
    links[entity]?[index].inverse = partner.name
    links[link.target]?[other].inverse = link.name
    (free[way], free[back]) = (nil, nil)
  }

  private func objection(to link: SwiftDataLink, of entity: String) -> String? {
    if let name = [link.target, entity].first(where: open.contains) {
      return "\(name) may have further relationships, one of which is the inverse"
    }
    if doubted.contains([entity, link.target]) {
      return "another relationship between \(entity) and \(link.target) isn't certain"
    }
    guard entity == link.target else { return nil }
    return "no known store shows the inferred inverse of a relationship from a class to itself"
  }
}
