import HeirloomFormats
import HeirloomModel

/// The rows read from a damaged store, the rows lost, and what was cut to make the new store sound.
public struct SalvageReport: Hashable, Sendable {
  /// The result for one table.
  public struct Table: Hashable, Sendable {
    /// The root entity whose objects the table holds, or `Entity.relationship` for a table of links.
    public let name: String
    /// The table's name in the file.
    public let table: String
    /// True if its rows are links of a many-to-many relationship.
    public let isLinks: Bool
    /// The number of rows in the new store.
    public package(set) var rows: Int64 = 0
    /// The number of these rows found in pages that no intact tree contains.
    public package(set) var rowsFoundApart: Int64 = 0
    /// The number of rows that are known to be lost; more rows may have been lost.
    public package(set) var rowsLost: Int64 = 0
    /// The first few keys of rows that are known to be lost.
    public package(set) var lostKeys: [Int64] = []
    /// The number of unreadable pages of the table.
    public package(set) var unreadablePages: Int = 0
    /// The number of unreadable rows in readable pages.
    public package(set) var unreadableRows: Int = 0
    /// True if the file has the table, or pages with its rows.
    public package(set) var isPresent: Bool = true

    /// True if no loss of rows is known.
    public var isWhole: Bool { rowsLost == 0 && unreadablePages == 0 && unreadableRows == 0 && isPresent }
  }

  /// Content that was left out of the new store or set to NULL.
  public struct Cut: Hashable, Sendable {
    package let kind: Kind
    /// The entity and the property, as `Entity.property`, or the table.
    public let subject: String
    /// The number of values, links or rows that were cut.
    public package(set) var count: Int64

    package enum Kind: String, Hashable, Sendable, CaseIterable {
      /// A to-one relationship to a missing object, which was set to NULL.
      case danglingKey
      /// A link to or from a missing object.
      case danglingLink
      case unreadableValue
      /// The readable characters are in the new store.
      case garbledText
      case wrongType
      case missingFile
      /// A row whose key was damaged: its neighbours' keys are in another range.
      case wrongKey
      /// A row with the key of another row but other values.
      case duplicateKey
      /// An object that is equal to another although the model has a uniqueness constraint.
      case duplicateValues
      /// A row whose entity doesn't belong to its table.
      case unknownEntity
      /// A value in a column that the model doesn't have; its row is in the new store.
      case leftOutColumn
    }
  }

  /// The path of the damaged store.
  public let storePath: String
  /// The path of the new store.
  public let outputPath: String
  /// The model's origin, as text.
  public package(set) var modelSource: String = ""
  /// True if the model fits the store's metadata; `nil` if the metadata can't be read.
  public package(set) var isModelFit: Bool?
  /// True if the database structure was sound, so SQLite could read everything.
  public package(set) var isStructureSound: Bool = true
  /// True if a part of the store's files that may have had content is damaged or missing; the notes say which.
  public package(set) var mayLackContent: Bool = false
  /// The tables of the model, in the model's order.
  public package(set) var tables: [Table] = []
  /// The number of objects in the new store, by entity name.
  public package(set) var objects: [String: Int64] = [:]
  /// The cuts, one for each kind and subject.
  public package(set) var cuts: [Cut] = []
  /// The number of pages of the damaged store.
  public package(set) var pageCount: Int = 0
  /// The numbers of the first 100 unreadable pages with data.
  public package(set) var unreadablePages: [Int] = []
  /// The number of unreadable pages with data.
  public package(set) var unreadablePageCount: Int = 0
  /// The number of pages whose rows may be deleted ones; they are left out by default.
  public package(set) var uncertainPageCount: Int = 0
  /// The number of pages with rows of an unknown table.
  public package(set) var unassignedPageCount: Int = 0
  /// The names of missing files with external data.
  public package(set) var missingFiles: [String] = []
  /// Tables, columns, views and triggers that the new store lacks, and names that were guessed, each with the reason.
  public package(set) var leftOut: [String] = []
  /// Further facts, in sentences.
  public package(set) var notes: [String] = []
  /// The path of the file beside the new store with all cuts, one JSON object per line; `nil` if there are none.
  public package(set) var cutsPath: String?

  init(storePath: String, outputPath: String) {
    self.storePath = storePath
    self.outputPath = outputPath
  }

  /// The number of objects and links in the new store.
  public var rowCount: Int64 { tables.reduce(0) { $0 + $1.rows } }

  /// True if no loss is known and nothing was cut.
  public var isComplete: Bool {
    tables.allSatisfy(\.isWhole) && cuts.isEmpty && unreadablePageCount == 0 && uncertainPageCount == 0
      && unassignedPageCount == 0
      && missingFiles.isEmpty && leftOut.isEmpty && !mayLackContent
  }

  mutating func note(_ words: String) {
    notes.append(ErrorWords.sentence(words))
  }

  mutating func count(_ kind: Cut.Kind, _ subject: String, by count: Int64 = 1) {
    guard count > 0 else { return }
    if let index = cuts.firstIndex(where: { $0.kind == kind && $0.subject == subject }) {
      cuts[index].count += count
    } else {
      cuts.append(Cut(kind: kind, subject: subject, count: count))
    }
  }
}

extension SalvageReport.Cut {
  /// The cut as a phrase: `3 links by Note.author to objects that are gone`.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    let (one, many) =
      switch kind {
      case .danglingKey:
        ("link by \(subject) to a missing object", "links by \(subject) to missing objects")
      case .danglingLink:
        ("link of \(subject) that lacks one of its objects", "links of \(subject) that lack one of their objects")
      case .unreadableValue: ("value of \(subject) that can't be read", "values of \(subject) that can't be read")
      case .garbledText:
        ("text of \(subject) with unreadable characters", "texts of \(subject) with unreadable characters")
      case .wrongType: ("value of \(subject) that is of another type", "values of \(subject) that are of another type")
      case .missingFile: ("value of \(subject) whose file is missing", "values of \(subject) whose files are missing")
      case .wrongKey: ("row of \(subject) with a key out of place", "rows of \(subject) with keys out of place")
      case .duplicateKey: ("row of \(subject) with a key that is taken", "rows of \(subject) with keys that are taken")
      case .duplicateValues:
        ("object of \(subject) that must differ from another", "objects of \(subject) that must differ from others")
      case .leftOutColumn:
        (
          "value of \(subject), a column that the model doesn't have",
          "values of \(subject), a column that the model doesn't have"
        )
      case .unknownEntity: ("row of \(subject) of an unknown entity", "rows of \(subject) of an unknown entity")
      }
    return "\(count) \(count == 1 ? one : many)"
  }
}
