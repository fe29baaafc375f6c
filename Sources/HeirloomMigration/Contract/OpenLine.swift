import HeirloomStore

/// A line of the ledger that only code can close: cells that no property mapping takes, and that a policy may read.
struct OpenLine: Hashable {
  /// The entity of the rows.
  let entity: PhysicalEntity
  /// The column of the cells.
  let column: String
  /// The entity that declares the attribute.
  let owner: String
  /// The attribute, as a path.
  let property: String
}
