/// Links whose fate is known only after a policy has made their objects.
struct PendingLinks {
  /// The part that each entity mapping plays.
  struct Parts: Equatable {
    /// The entity mappings that take the owners, if code makes those; else the ones whose code is given the targets.
    let takers: Set<String>
    let areOwnersTaken: Bool
    /// The entity mappings that copy the links of those objects that their default relates.
    let ownCarriers: Set<String>
    let otherCarriers: Set<String>
    /// ``PendingCause/leftOut`` if SQL copies the links whose ends both have a destination object.
    let cause: PendingCause
  }

  /// Named in a loss: the destination's relationship that continues this one, else the source's.
  let entity: String
  let property: String
  let owner: String
  let relationship: String
  let targets: [String]
  let inverse: String?
  /// Has the columns `owner` and `target`.
  let query: String
  let parts: Parts
}
