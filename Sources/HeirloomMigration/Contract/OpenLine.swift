import HeirloomStore

/// A line of the ledger that only code can close: cells that a policy may read, or leave to the default.
struct OpenLine: Hashable {
  /// The entity of the rows.
  let entity: PhysicalEntity
  /// The column of the cells.
  let column: String
  /// The entity that declares the attribute.
  let owner: String
  /// The attribute, as a path; `nil` if no model knows the column.
  let attribute: String?
  /// The entity mappings that take the cells along, if their policies call the default.
  let carriers: Set<String>

  /// The name that a loss is told by.
  var property: String { attribute ?? column }
}
