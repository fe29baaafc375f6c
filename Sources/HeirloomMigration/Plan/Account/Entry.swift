import HeirloomMapping

/// A thing that a store holds, of which an account has a line.
enum Subject {
  /// The objects of exactly one entity of the source.
  case objects(entity: String)
  /// The cells of a column of the store that are not NULL.
  case cells(column: String, table: String)
  /// The links of a relationship of the source, and of its inverse.
  case links(entity: String, relationship: String)
  /// The links that a relationship of the destination gets, which may be of several of the source.
  case linksInto(entity: String, relationship: String)
  /// The rows of a table that holds no objects.
  case rows(table: String)
}

/// The part of a line that doesn't go on as it is: changed, decided or lost.
///
/// A loss is made of an entry, and of nothing else that a plan or a run finds in the store.
final class Entry {
  /// The line.
  let subject: Subject
  let cause: LossCause
  /// The entity that the loss names.
  let entity: String
  /// The property that the loss names; `nil` for objects.
  let property: String?
  /// The queries of links that both sides of a relationship may tell, with `owner` and `target`; none for other entries.
  let links: [String]

  init(_ cause: LossCause, of subject: Subject, entity: String, property: String? = nil, links: [String] = []) {
    (self.cause, self.subject) = (cause, subject)
    (self.entity, self.property, self.links) = (entity, property, links)
  }

  /// Returns the entry of links that a relationship of the destination has no room for.
  static func room(_ cause: LossCause, _ entity: String, _ relationship: String) -> Entry {
    Entry(
      cause, of: .linksInto(entity: entity, relationship: relationship), entity: entity, property: relationship)
  }

  /// Returns the entry of links of a relationship of the source.
  static func links(
    _ cause: LossCause, _ entity: String, _ relationship: String, from queries: [String] = []
  ) -> Entry {
    Entry(
      cause, of: .links(entity: entity, relationship: relationship), entity: entity, property: relationship,
      links: queries)
  }

  /// Returns the loss of what was counted.
  ///
  /// - Parameters:
  ///   - rows: The number of rows that lose something.
  ///   - links: The number of links that are lost; `nil` for anything else.
  /// - Returns: The loss.
  func loss(rows: Int64, links: Int64? = nil) -> MigrationLoss {
    MigrationLoss(
      entity: entity, property: property, reason: cause.reason, rows: rows, links: links, consent: cause.consent,
      kind: cause.kind)
  }
}

/// An entry with the way to count it.
struct AskedEntry {
  /// A count of a store.
  enum Count {
    /// The number is known.
    case known(Int64)
    /// The rows `s` of a table that meet a condition.
    case rows(where: String, in: String)
    /// The rows `s` of a table in which an expression has a value; a quarter faster than with a condition.
    case values(of: String, in: String)
    /// A query of one number.
    case query(String)
    /// Queries of two numbers each, of rows and of their links; both are added up.
    case links([String])
  }

  let entry: Entry
  let count: Count

  init(_ entry: Entry, _ count: Count) { (self.entry, self.count) = (entry, count) }
}

/// An entry with its count.
struct CountedEntry {
  let entry: Entry
  let rows: Int64
  var links: Int64?

  var loss: MigrationLoss { entry.loss(rows: rows, links: links) }
}
