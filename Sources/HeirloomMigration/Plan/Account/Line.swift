/// Some content of the store, with the fate of each part of it.
///
/// The counts of the parts add up to the line's count. Values that change in several columns are
/// counted as one part.
package struct Line: Equatable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// Without objects of subentities.
    case objects
    /// Only cells that are not NULL.
    case cells
    /// Keys, entity numbers and list positions, whose objects and links have their own lines.
    case bookkeeping
    case links
    /// Of a table that holds no objects.
    case rows
    /// Those beside the store that a column names.
    case files
    case metadata
  }

  package enum Fate: String, Hashable, Sendable {
    case carried
    case changed
    case decided
    /// It is given to code, or to an expression of the mapping.
    case code
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

  package struct Part: Equatable, Sendable {
    package let fate: Fate
    package let count: Int64
    /// The destination's entities, tables or columns with the part, the entity mappings that read
    /// it, or its line of links.
    package let places: [String]
    package let reason: String?
  }

  package let kind: Kind
  /// The name of an entity, table or metadata key, `TABLE.COLUMN`, or `Entity.relationship`.
  package let name: String
  /// The column's property, or the inverse of a line of links, as `Entity.property`.
  package let property: String?
  package let count: Int64
  package let parts: [Part]

  func adding(_ fate: Fate, _ more: Int64, _ places: [String] = [], reason: String? = nil) -> Line {
    guard more > 0 else { return self }
    let part = Part(fate: fate, count: more, places: places, reason: reason)
    return Line(kind: kind, name: name, property: property, count: count + more, parts: parts + [part])
  }
}
