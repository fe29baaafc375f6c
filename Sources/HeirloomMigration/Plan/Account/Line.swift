/// A line of a store's account: a thing that the store holds, and where each part of it goes.
///
/// The counts of the parts add up to that of the line. Values that change on the way to several columns are one part.
package struct Line: Equatable, Sendable {
  /// A kind of thing.
  package enum Kind: String, Hashable, Sendable {
    /// The objects of an entity, without those of subentities.
    case objects
    /// The cells of a column that are not NULL.
    case cells
    /// The cells of a column of keys, numbers or places, which hold what other lines are about.
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

  /// A way in which a part of a line goes.
  package enum Fate: String, Hashable, Sendable {
    /// It is in the candidate as it is.
    case carried
    /// It is in the candidate, changed.
    case changed
    /// A decision is about it.
    case decided
    /// Code of the mapping gets it.
    case code
    /// The candidate has no place for it.
    case lost
    /// It goes with its objects, which have a line.
    case withObjects
    /// It is counted as links, which have a line.
    case links
    /// The candidate has its own.
    case remade
    /// It names what is gone, or never was there.
    case leftOut
    /// The file that the store names isn't there, or is empty.
    case missing
    /// Nothing that the plan knows takes it; or the number, below 0, by which other parts overlap.
    case unaccounted
  }

  /// A part of a line.
  package struct Part: Equatable, Sendable {
    package let fate: Fate
    package let count: Int64
    /// The places in the destination, the names of the entity mappings whose code or expressions get the part, or of the
    /// line of links.
    package let places: [String]
    /// The reason of a loss or a change, in a sentence; `nil` otherwise.
    package let reason: String?
  }

  package let kind: Kind
  /// The name: of an entity, a table, a key, or `TABLE.COLUMN` or `Entity.relationship`.
  package let name: String
  /// The property that the model has there, as `Entity.property`; `nil` for none.
  package let property: String?
  package let count: Int64
  package let parts: [Part]

  /// Returns the line of more of the thing, which goes in one way; the line itself if there is no more.
  func adding(_ fate: Fate, _ more: Int64, _ places: [String] = [], reason: String? = nil) -> Line {
    guard more > 0 else { return self }
    let part = Part(fate: fate, count: more, places: places, reason: reason)
    return Line(kind: kind, name: name, property: property, count: count + more, parts: parts + [part])
  }
}
