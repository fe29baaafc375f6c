import HeirloomStore

/// A line of the ledger that only code can close: cells that a policy may read, or leave to the default.
struct OpenLine {
  /// The entity of the rows.
  let entity: PhysicalEntity
  /// The column of the cells.
  let column: String
  /// The entity that declares the attribute.
  let owner: String
  /// The attribute, as a path; `nil` if no model knows the column.
  let attribute: String?
  /// The entity mappings whose code gets the rows.
  let takers: Set<String>
  /// The entity mappings that take the cells along, of those objects that their default makes.
  let carriers: Set<String>
  /// The reason why the cells are lost, unless code took them along.
  let cause: OpenCause

  /// The name that a loss is told by.
  var property: String { attribute ?? column }
}

/// A reason why content that code may take along is lost.
enum OpenCause: Int {
  /// No property mapping takes it, and code didn't read it.
  case unmapped
  /// A property mapping takes it, by the default that code didn't call.
  case passedOver
  /// The default took it along, and code removed it afterwards.
  case undone
  /// Links lead to objects that the destination's relationship can't lead to.
  case foreign
  /// Links have an end that code made nothing of.
  case leftOut
  /// Links have no room: the destination's relationship is a to-one.
  case noRoom
  /// Links have no order in the destination.
  case noOrder
  /// Links have another order than in the source.
  case otherOrder
}
