/// A line of the ledger that only code can close: links of objects that a policy makes.
struct OpenLinks {
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
  /// The entity mappings that take the links along, if their policies call the default.
  let carriers: Set<String>
  /// The reason why they are lost, unless code took them along.
  let cause: OpenCause
}
