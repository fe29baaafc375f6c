/// A line of the ledger that only code can close: links of objects that a policy makes.
struct OpenLinks {
  /// The parts that mappings have in links.
  struct Parts: Equatable {
    /// The entity mappings that take the owners, if the owners are code's; else those whose code gets the targets.
    let takers: Set<String>
    /// True if the takers take the owners.
    let areOwnersTaken: Bool
    /// The entity mappings that take the links along with the owners that their default relates.
    let ownCarriers: Set<String>
    /// The entity mappings that take them along with the targets that their default relates.
    let otherCarriers: Set<String>
    /// The reason why they are lost; ``OpenCause/leftOut`` if a mapping without code takes them along, wherever both
    /// ends became something.
    let cause: OpenCause
  }

  /// The entity that declares the relationship of which a loss is told.
  let entity: String
  /// The name of that relationship: the one of the destination that goes on, else the source's own.
  let property: String
  /// The entity of the owners.
  let owner: String
  /// The name of the source relationship.
  let relationship: String
  /// The entities of the objects that it leads to.
  let targets: [String]
  /// The name of its inverse, if it has one.
  let inverse: String?
  /// The query of the links, with `owner` and `target`.
  let query: String
  let parts: Parts
}
