import HeirloomMigration
import TestSupport
import Testing

/// Corruptions of a candidate and of what is told, each of which the accountant has to find.
struct AccountantPowerTests {
  /// A corruption, and words of the line that it unbalances.
  struct Corruption: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var statements: [String] = []
    var told: @Sendable ([ToldLoss]) -> [ToldLoss] = { $0 }
    let line: String

    init(_ name: String, _ statements: String..., finds line: String) {
      (testDescription, self.statements, self.line) = (name, statements, line)
    }

    init(_ name: String, finds line: String, told: @escaping @Sendable ([ToldLoss]) -> [ToldLoss]) {
      (testDescription, self.told, self.line) = (name, told, line)
    }

    /// A corruption of the amount of a told loss.
    static func amount(_ kind: ToldLoss.Kind, _ difference: Int, finds line: String) -> Corruption {
      Corruption("\(kind) told with \(difference) more", finds: line) { told in
        told.map { loss in
          var loss = loss
          if loss.kind == kind { loss.amount += difference }
          return loss
        }
      }
    }
  }

  // The entities are numbered Card 1, Note 2, Tag 3, Long 4, Writer 5 in the candidate.
  static let corruptions = [
    Corruption("a value is NULL", "UPDATE ZNOTE SET ZHEADING = NULL WHERE Z_PK = 1", finds: "ZNOTE.ZTITLE"),
    Corruption("a value is another", "UPDATE ZNOTE SET ZHEADING = 'X' WHERE Z_PK = 1", finds: "ZNOTE.ZTITLE"),
    Corruption(
      "a text is a blob", "UPDATE ZNOTE SET ZHEADING = CAST(ZHEADING AS BLOB) WHERE Z_PK = 1", finds: "ZNOTE.ZTITLE"),
    Corruption("two values are swapped", "UPDATE ZNOTE SET ZSIZE = 15 - ZSIZE", finds: "ZNOTE.ZSIZE"),
    Corruption("a whole number is changed", "UPDATE ZNOTE SET ZAMOUNT = 3 WHERE Z_PK = 3", finds: "ZNOTE.ZAMOUNT"),
    Corruption("an object is gone", "DELETE FROM ZNOTE WHERE Z_PK = 3", finds: "ZNOTE of Note"),
    Corruption("an object has another key", "UPDATE ZTAG SET Z_PK = 9 WHERE Z_PK = 1", finds: "ZTAG of Tag"),
    Corruption("an object is of another entity", "UPDATE ZTAG SET Z_ENT = 3 WHERE Z_PK = 2", finds: "ZTAG of Long"),
    Corruption(
      "an object comes from nowhere", "INSERT INTO ZTAG (Z_PK, Z_ENT) VALUES (9, 3)", finds: "objects from nowhere"),
    Corruption("a key is NULL", "UPDATE ZNOTE SET ZAUTHOR = NULL WHERE Z_PK = 1", finds: "Note.author"),
    Corruption("a key leads elsewhere", "UPDATE ZNOTE SET ZAUTHOR = 3 - ZAUTHOR WHERE Z_PK = 1", finds: "Note.author"),
    Corruption("a row of links is gone", "DELETE FROM Z_2TAGS WHERE rowid = 1", finds: "Note.tags"),
    Corruption("all rows of links are gone", "DELETE FROM Z_2TAGS", finds: "Note.tags"),
    Corruption("one side of a link is gone", "UPDATE ZWRITER SET ZCARD = NULL", finds: "Person.card"),
    Corruption(
      "both sides of a link are gone", "UPDATE ZWRITER SET ZCARD = NULL", "UPDATE ZCARD SET ZOWNER = NULL",
      finds: "Card.owner"),
    Corruption("an unknown column is gone", "ALTER TABLE ZNOTE DROP COLUMN ZLEFTOVER", finds: "ZNOTE.ZLEFTOVER"),
    Corruption(
      "an unknown value is NULL", "UPDATE ZNOTE SET ZLEFTOVER = NULL WHERE Z_PK = 3", finds: "ZNOTE.ZLEFTOVER"),
    Corruption(
      "an unknown value of a link is gone", "UPDATE Z_2TAGS SET ZWHEN = NULL WHERE rowid = 1", finds: "TAGS.ZWHEN"),
    Corruption("a known column is gone", "ALTER TABLE ZTAG DROP COLUMN ZNAME", finds: "ZTAG.ZNAME"),
    Corruption("a table of the app is empty", "DELETE FROM notes_of_the_app", finds: "notes_of_the_app"),
    Corruption("the next key is one that is there", "UPDATE Z_PRIMARYKEY SET Z_MAX = 1", finds: "Z_MAX of Note"),
    .amount(.objects, -1, finds: "ZDRAFT of Draft"), .amount(.objects, 1, finds: "ZDRAFT of Draft"),
    .amount(.values, -1, finds: "ZNOTE.ZGONE"), .amount(.changedValues, 1, finds: "ZNOTE.ZAMOUNT"),
    Corruption("lost values are not told", finds: "ZNOTE.ZGONE") { $0.filter { $0.kind != .values } },
    Corruption("lost objects are not told", finds: "ZDRAFT of Draft") { $0.filter { $0.kind != .objects } },
    Corruption("changed values are told as lost", finds: "ZNOTE.ZAMOUNT") { told in
      told.map { loss in
        var loss = loss
        if loss.kind == .changedValues { loss.kind = .values }
        return loss
      }
    },
    Corruption("links are told that are there", finds: "Tag.notes") {
      $0 + [ToldLoss(kind: .links, entity: "Tag", property: "notes", amount: 1)]
    },
    Corruption("values are told that are there", finds: "ZNOTE.ZSIZE") {
      $0 + [ToldLoss(kind: .values, entity: "Note", property: "size", amount: 2)]
    },
    Corruption("a loss is told of nothing", finds: "Note.nothing") {
      $0 + [ToldLoss(kind: .links, entity: "Note", property: "nothing", amount: 1)]
    },
    Corruption("an unknown value is told that is there", finds: "ZNOTE.ZLEFTOVER") {
      $0 + [ToldLoss(kind: .values, entity: "Note", property: "ZLEFTOVER", amount: 1)]
    },
  ]

  @Test(arguments: SeededAccountTests.builders)
  func `the accountant finds each corruption, and none where there is none`(builder: BuilderChoice) throws {
    let example = try BalancedExample(by: builder)
    #expect(try example.imbalances() == [])
    #expect(example.told.map(\.kind.rawValue).sorted() == ["changedValues", "objects", "values"])
    for corruption in Self.corruptions {
      let found = try example.imbalances(after: corruption.statements, told: corruption.told)
      #expect(found.contains { $0.line.contains(corruption.line) }, "\(corruption.testDescription): \(found)")
    }
  }
}
