import HeirloomMapping

/// Content of a store for which an account has a line.
enum Subject {
  /// The objects of exactly one entity of the source.
  case objects(entity: String)
  /// The cells of a column of the store that are not NULL.
  case cells(column: String, table: String)
  /// The links of a relationship of the source, and of its inverse.
  case links(entity: String, relationship: String)
  /// The links of a destination relationship, which may come from several source relationships.
  case linksInto(entity: String, relationship: String)
  /// The rows of a table that holds no objects.
  case rows(table: String)
}

/// The part of a line that isn't carried unchanged: it is changed, decided or lost.
///
/// Every loss that a plan or a run reports is made from an entry.
final class Entry {
  let subject: Subject
  let cause: LossCause
  /// The entity that the loss names.
  let entity: String
  /// The property that the loss names; `nil` for objects.
  let property: String?
  /// The queries, with `owner` and `target`, for links that both sides of a relationship may report; else empty.
  let links: [String]

  init(_ cause: LossCause, of subject: Subject, entity: String, property: String? = nil, links: [String] = []) {
    (self.cause, self.subject) = (cause, subject)
    (self.entity, self.property, self.links) = (entity, property, links)
  }

  /// Returns the entry of links that a destination relationship can't hold.
  static func room(_ cause: LossCause, _ entity: String, _ relationship: String) -> Entry {
    Entry(
      cause, of: .linksInto(entity: entity, relationship: relationship), entity: entity, property: relationship)
  }

  /// Returns the entry of a source relationship's links.
  static func links(
    _ cause: LossCause, _ entity: String, _ relationship: String, from queries: [String] = []
  ) -> Entry {
    Entry(
      cause, of: .links(entity: entity, relationship: relationship), entity: entity, property: relationship,
      links: queries)
  }

  /// Returns the loss of a number of rows; `links` is `nil` if no links are lost.
  func loss(rows: Int64, links: Int64? = nil) -> MigrationLoss {
    MigrationLoss(
      entity: entity, property: property, reason: cause.reason, rows: rows, links: links, consent: cause.consent,
      kind: cause.kind)
  }
}

/// An entry that is still to be counted.
struct AskedEntry {
  /// The way to count an entry.
  enum Count {
    /// The number is known.
    case known(Int64)
    /// The rows `s` of a table that meet a condition.
    case rows(where: String, in: String)
    /// The rows `s` of a table in which an expression has a value; a quarter faster than with a condition.
    case values(of: String, in: String)
    /// A query that returns one number.
    case query(String)
    /// Queries that each return a number of rows and the number of their links; both are summed.
    case links([String])
  }

  let entry: Entry
  let count: Count

  init(_ entry: Entry, _ count: Count) { (self.entry, self.count) = (entry, count) }
}

struct CountedEntry {
  let entry: Entry
  let rows: Int64
  var links: Int64?

  var loss: MigrationLoss { entry.loss(rows: rows, links: links) }
}
