/// A line of a store's account: some content of the store, with the fate of each part of it.
///
/// The counts of the parts add up to the line's count. Values that change in several columns are counted as one part.
package struct Line: Equatable, Sendable {
  /// A kind of content.
  package enum Kind: String, Hashable, Sendable {
    /// The objects of an entity, without those of subentities.
    case objects
    /// The cells of a column that are not NULL.
    case cells
    /// The cells of a column of keys, entity numbers or list positions, whose objects and links have their own lines.
    case bookkeeping
    /// The links of a relationship and its inverse.
    case links
    /// The rows of a table that holds no objects.
    case rows
    /// The files beside the store that a column names.
    case files
    /// A key of the store's metadata.
    case metadata
  }

  /// The fate of a part of a line.
  package enum Fate: String, Hashable, Sendable {
    /// The candidate has it unchanged.
    case carried
    /// The candidate has it, changed.
    case changed
    /// A decision applies to it.
    case decided
    /// Code or an expression of the mapping is given it.
    case code
    /// The candidate lacks it.
    case lost
    /// It is dropped with its objects, which have their own line.
    case withObjects
    /// It is counted as links, which have their own line.
    case links
    /// The candidate has a new value instead.
    case remade
    /// It is left out without being a loss, such as a key that no object has.
    case leftOut
    /// The store names a file that is missing or empty.
    case missing
    /// The plan has no place for it; a negative count is the overlap of other parts.
    case unaccounted
  }

  /// A part of a line.
  package struct Part: Equatable, Sendable {
    package let fate: Fate
    package let count: Int64
    /// The destination's entities, tables or columns that hold the part, the entity mappings whose code or expressions
    /// read it, or its line of links.
    package let places: [String]
    /// The reason, in a sentence; `nil` if there is nothing to explain.
    package let reason: String?
  }

  package let kind: Kind
  /// The name of an entity, table or metadata key, `TABLE.COLUMN`, or `Entity.relationship`.
  package let name: String
  /// The column's property, or the inverse of a line of links, as `Entity.property`; `nil` for none.
  package let property: String?
  package let count: Int64
  package let parts: [Part]

  /// Returns the line with one more part, which adds to its count; the line itself if the part is empty.
  func adding(_ fate: Fate, _ more: Int64, _ places: [String] = [], reason: String? = nil) -> Line {
    guard more > 0 else { return self }
    let part = Part(fate: fate, count: more, places: places, reason: reason)
    return Line(kind: kind, name: name, property: property, count: count + more, parts: parts + [part])
  }
}
