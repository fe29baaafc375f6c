import HeirloomFormats
import HeirloomModel

/// The rows that were read of a damaged store, those that were lost, and what was cut so that the new store is sound.
public struct SalvageReport: Hashable, Sendable {
  /// The result for the rows of one table.
  public struct Table: Hashable, Sendable {
    /// The root entity whose objects the table holds, or `Entity.relationship` for a table of links.
    public let name: String
    /// The table's name in the file.
    public let table: String
    /// True when its rows are links of a many-to-many relationship.
    public let isLinks: Bool
    /// The number of rows in the new store.
    public package(set) var rows: Int64 = 0
    /// The number of them that were found in pages that nothing in the damaged store leads to any more.
    public package(set) var rowsFoundApart: Int64 = 0
    /// The number of rows that are known to have been there and could not be read; there may have been more.
    public package(set) var rowsLost: Int64 = 0
    /// The keys of rows that are known to be lost, the first few.
    public package(set) var lostKeys: [Int64] = []
    /// The number of pages of the table that can't be read.
    public package(set) var unreadablePages: Int = 0
    /// The number of rows of readable pages that can't be read.
    public package(set) var unreadableRows: Int = 0
    /// True when the file has the table, or pages with its rows.
    public package(set) var isPresent: Bool = true

    /// True when every row was read, as far as can be known.
    public var isWhole: Bool { rowsLost == 0 && unreadablePages == 0 && unreadableRows == 0 && isPresent }
  }

  /// Something that was left out of the new store or set to no value.
  public struct Cut: Hashable, Sendable {
    /// The kind of cut.
    package let kind: Kind
    /// The entity and the property, `Entity.property`, or the table.
    public let subject: String
    /// The number of values, links or rows that were cut.
    public package(set) var count: Int64

    /// A kind of cut: the values, links or rows that it concerns, and the reason.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
      /// A to-one relationship that led to an object that is not there; it leads nowhere now.
      case danglingKey
      /// A link between objects, one of which is not there.
      case danglingLink
      /// A value that can't be read, in a row that can.
      case unreadableValue
      /// A text in which some characters can't be read; the others are in the new store.
      case garbledText
      /// A value that is not of its attribute's type.
      case wrongType
      /// A value that was in a file of external data that is missing.
      case missingFile
      /// A row whose key was changed: its neighbours' keys are of another range.
      case wrongKey
      /// A row that has the key of another, with other values.
      case duplicateKey
      /// An object that is equal to another where the model asks for a difference.
      case duplicateValues
      /// A row whose entity is not one of its table's.
      case unknownEntity
      /// A value of a column that the model doesn't have; its row is in the new store.
      case leftOutColumn
    }
  }

  /// The path of the damaged store.
  public let storePath: String
  /// The path of the new store.
  public let outputPath: String
  /// The model's origin, in words.
  public package(set) var modelSource: String = ""
  /// True when the model is the one that the store's metadata name; `nil` if the metadata can't be read.
  public package(set) var isModelFit: Bool?
  /// True when the database's structure was found sound, so that SQLite itself could read everything.
  public package(set) var isStructureSound: Bool = true
  /// True when a part of the store's files that may have held content is damaged or missing; the notes say which.
  public package(set) var mayLackContent: Bool = false
  /// The tables of the model, in their order.
  public package(set) var tables: [Table] = []
  /// The objects in the new store, by the name of their entity.
  public package(set) var objects: [String: Int64] = [:]
  /// The cuts, one for each kind and subject.
  public package(set) var cuts: [Cut] = []
  /// The number of pages that the damaged store has.
  public package(set) var pageCount: Int = 0
  /// The numbers of pages with data that can't be read, the first hundred.
  public package(set) var unreadablePages: [Int] = []
  /// The number of pages with data that can't be read.
  public package(set) var unreadablePageCount: Int = 0
  /// The number of pages of rows that may have been deleted, which are left out unless asked for.
  public package(set) var uncertainPageCount: Int = 0
  /// The number of pages of rows whose table is unknown.
  public package(set) var unassignedPageCount: Int = 0
  /// The names of files of external data that are missing.
  public package(set) var missingFiles: [String] = []
  /// Tables, columns, views and triggers that the new store lacks, or names that were guessed, with the reason.
  public package(set) var leftOut: [String] = []
  /// Further facts, in sentences.
  public package(set) var notes: [String] = []
  /// The path of a file beside the new store with all cuts, one JSON object a line; `nil` if there are none.
  public package(set) var cutsPath: String?

  init(storePath: String, outputPath: String) {
    self.storePath = storePath
    self.outputPath = outputPath
  }

  /// The number of objects and links in the new store.
  public var rowCount: Int64 { tables.reduce(0) { $0 + $1.rows } }

  /// True when nothing is known to be lost and nothing was cut.
  public var isComplete: Bool {
    tables.allSatisfy(\.isWhole) && cuts.isEmpty && unreadablePageCount == 0 && uncertainPageCount == 0
      && unassignedPageCount == 0
      && missingFiles.isEmpty && leftOut.isEmpty && !mayLackContent
  }

  /// Adds a clause as a sentence.
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
        ("link by \(subject) to an object that is gone", "links by \(subject) to objects that are gone")
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
