/// Links whose fate is known only after a policy has made their objects.
struct PendingLinks {
  /// The part that each entity mapping plays.
  struct Parts: Equatable {
    /// The entity mappings that take the owners, if code makes those; else the ones whose code is given the targets.
    let takers: Set<String>
    let areOwnersTaken: Bool
    /// The entity mappings that copy the links of the owners that their default relates.
    let ownCarriers: Set<String>
    /// The entity mappings that copy the links of the targets that their default relates.
    let otherCarriers: Set<String>
    /// The reason for the loss; ``PendingCause/leftOut`` if a mapping without code copies the links wherever both ends
    /// have a destination object.
    let cause: PendingCause
  }

  /// The entity that declares the relationship named in a loss.
  let entity: String
  /// The relationship named in a loss: the destination's that continues this one, else the source's.
  let property: String
  let owner: String
  let relationship: String
  /// The entities of the objects that it refers to.
  let targets: [String]
  /// The name of its inverse, if it has one.
  let inverse: String?
  /// The query of the links, with columns `owner` and `target`.
  let query: String
  let parts: Parts
}
