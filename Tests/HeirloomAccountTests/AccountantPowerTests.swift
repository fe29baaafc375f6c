import HeirloomMigration
import TestSupport
import Testing

/// Corruptions of a candidate and of what is told, each of which the accountant has to find.
struct AccountantPowerTests {
  /// `line` has words of the line that the corruption unbalances.
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
      $0 + [ToldLoss(kind: .unknownContent, entity: "Note", property: "ZLEFTOVER", amount: 1)]
    },
    Corruption("a value of the model is told that nothing knows", finds: "Note.nothing") {
      $0 + [ToldLoss(kind: .values, entity: "Note", property: "nothing", amount: 1)]
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

  @Test(arguments: SeededAccountTests.builders)
  func `the accountant finds each line of an account that is wrong, missing or too many`(builder: BuilderChoice) throws
  {
    let example = try BalancedExample(by: builder)
    #expect(try example.imbalances(of: example.account) == [])
    #expect(example.account.count > 50)
    func isFound(_ line: ListedLine?, at place: Int) throws -> Bool {
      var account = example.account
      if let line { account[place] = line } else { account.remove(at: place) }
      return try !example.imbalances(of: account).isEmpty
    }
    for (place, line) in example.account.enumerated() where !["metadata", "files"].contains(line.kind) {
      func changed(count: Int? = nil, parts: [ListedLine.Part]? = nil) -> ListedLine {
        ListedLine(kind: line.kind, name: line.name, count: count ?? line.count, parts: parts ?? line.parts)
      }
      #expect(try isFound(nil, at: place), "\(line)")
      #expect(try isFound(changed(count: line.count + 1), at: place), "\(line)")
      guard let part = line.parts.first, ["objects", "cells", "links"].contains(line.kind) else { continue }
      // What goes is said to stay, and the other way round.
      let other = ["carried", "changed"].contains(part.fate) ? "lost" : "carried"
      let turned = ListedLine.Part(fate: other, count: part.count, places: ["anywhere"])
      let isUnknown = line.name.contains("ZLEFTOVER") || line.name.contains("ZWHEN")
      #expect(try isFound(changed(parts: [turned] + line.parts.dropFirst()), at: place) || isUnknown, "\(line)")
      let nowhere = ListedLine.Part(fate: "carried", count: part.count, places: [])
      #expect(try isFound(changed(parts: [nowhere] + line.parts.dropFirst()), at: place), "\(line)")
    }
    var more = example.account
    more.append(ListedLine(kind: "rows", name: "nothing", count: 1, parts: []))
    #expect(try !example.imbalances(of: more).isEmpty)
  }
}
