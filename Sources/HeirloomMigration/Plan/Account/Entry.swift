import HeirloomMapping

/// Content of a store for which an account has a line.
enum Subject {
  /// Without objects of subentities.
  case objects(entity: String)
  /// Only cells that are not NULL.
  case cells(column: String, table: String)
  case links(entity: String, relationship: String)
  /// They may come from several relationships of the source.
  case linksInto(entity: String, relationship: String)
  /// Of a table that holds no objects.
  case rows(table: String)
}

/// The part of a line that isn't carried unchanged: it is changed, decided or lost.
///
/// Every loss that a plan or a run reports is made from an entry.
final class Entry {
  let subject: Subject
  let cause: LossCause
  let entity: String
  let property: String?
  /// Queries with `owner` and `target`, for links that both sides of a relationship may report.
  let links: [String]

  init(_ cause: LossCause, of subject: Subject, entity: String, property: String? = nil, links: [String] = []) {
    (self.cause, self.subject) = (cause, subject)
    (self.entity, self.property, self.links) = (entity, property, links)
  }

  static func room(_ cause: LossCause, _ entity: String, _ relationship: String) -> Entry {
    Entry(
      cause, of: .linksInto(entity: entity, relationship: relationship), entity: entity, property: relationship)
  }

  static func links(
    _ cause: LossCause, _ entity: String, _ relationship: String, from queries: [String] = []
  ) -> Entry {
    Entry(
      cause, of: .links(entity: entity, relationship: relationship), entity: entity, property: relationship,
      links: queries)
  }

  func loss(rows: Int64, links: Int64? = nil) -> MigrationLoss {
    MigrationLoss(
      entity: entity, property: property, reason: cause.reason, rows: rows, links: links, consent: cause.consent,
      kind: cause.kind)
  }
}

/// An entry that is still to be counted.
struct AskedEntry {
  enum Count {
    case known(Int64)
    case rows(where: String, in: String)
    /// Counts the rows in which an expression has a value: a quarter faster than a condition.
    case values(of: String, in: String)
    case query(String)
    /// Each returns a number of rows and the number of their links; both are summed.
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
