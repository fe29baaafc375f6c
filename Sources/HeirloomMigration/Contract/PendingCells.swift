import HeirloomStore

/// Cells whose fate is known only after a policy has run: it may read them, or let the default copy them.
struct PendingCells {
  let entity: PhysicalEntity
  let column: String
  /// The entity that declares the attribute.
  let owner: String
  /// The attribute's path; `nil` for a column outside the model.
  let attribute: String?
  /// The entity mappings whose code is given the rows.
  let takers: Set<String>
  /// The entity mappings that copy the cells for those objects that their default makes.
  let carriers: Set<String>
  let cause: PendingCause

  var property: String { attribute ?? column }
}

/// A reason why content that code may copy is lost.
enum PendingCause: Int {
  /// No property mapping copies it, and code didn't read it.
  case unmapped
  /// A property mapping copies it, but code didn't call the default that runs the mapping.
  case passedOver
  /// The default copied it, and code removed it afterwards.
  case undone
  /// Links refer to objects that the destination's relationship can't refer to.
  case foreign
  /// Links have an end from which code made no object.
  case leftOut
  /// Links don't fit because the destination's relationship is a to-one.
  case noRoom
  case noOrder
  case otherOrder
}
