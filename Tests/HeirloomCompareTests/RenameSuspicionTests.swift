import HeirloomCompare
import HeirloomCompare
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

struct RenameSuspicionTests {
  /// An attribute before, one after, and the least and the greatest likeness of their names.
  static let renames: [(AttributeDescription, AttributeDescription, ClosedRange<Double>)] = [
    (attribute("fullName"), attribute("name"), 0.6...0.7),
    (attribute("creationDate"), attribute("dateCreated"), 0.5...0.9),
    (attribute("html_text"), attribute("HTMLText"), 0.8...1),
    (attribute("title"), attribute("Title"), 1...1),
    (attribute("title"), attribute("name"), 0...0.2),
    (attribute("été"), attribute("hiver"), 0...0),
    (attribute("a"), attribute("b"), 0...0),
    (attribute("_"), attribute("__"), 0...0),
  ]

  @Test(arguments: renames)
  func `a planted rename is suspected, with how alike the names are`(
    before: AttributeDescription, after: AttributeDescription, similarity: ClosedRange<Double>
  ) throws {
    let difference = ModelDifference(from: try model(entity("E", before)), to: try model(entity("E", after)))
    let suspicion = try #require(difference.renames.first)
    #expect(difference.renames.count == 1)
    #expect(suspicion.kind == .attribute && suspicion.entity == "E" && suspicion.sourceEntity == "E")
    #expect(suspicion.removed == before.name && suspicion.added == after.name && suspicion.type == after.type.name)
    #expect(suspicion.renamingIdentifier == before.name)
    #expect(similarity.contains(suspicion.nameSimilarity), "\(suspicion.nameSimilarity)")
    #expect((0...1).contains(suspicion.score) && suspicion.score >= 0.39)
    #expect(
      suspicion.description.contains("a rename?") && suspicion.description.contains("elementID=\"\(before.name)\""))
  }

  @Test func `what else the models say counts besides the name`() throws {
    func score(_ change: (inout AttributeDescription) -> Void) throws -> Double {
      let after = try model(entity("E", attribute("name") { change(&$0) }))
      return try #require(
        ModelDifference(from: try model(entity("E", attribute("fullName"))), to: after).renames.first
      ).score
    }
    let same = try score { _ in }
    #expect(try score { $0.isOptional.toggle() } < same)
    #expect(try score { $0.defaultValue = .string("x") } < same)
  }

  static let others: [([AttributeDescription], [AttributeDescription])] = [
    ([attribute("fullName")], [attribute("age", .integer64)]), ([attribute("fullName")], []), ([], [attribute("name")]),
    ([attribute("fullName")], [attribute("name", id: "fullName")]), ([attribute("name")], [attribute("name")]),
    ([attribute("color"), attribute("size")], [attribute("weather"), attribute("mood")]),
    ([attribute("x") { $0.isTransient = true }], [attribute("y")]),
  ]

  @Test(arguments: others)
  func `what is no rename isn't suspected`(before: [AttributeDescription], after: [AttributeDescription]) throws {
    func make(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
      let entity = Make.entity("E", attributes)
      return try ManagedObjectModel(entities: [entity])
    }
    #expect(ModelDifference(from: try make(before), to: try make(after)).renames.isEmpty)
  }

  /// Names before and after, what is asked about the first, and whether one is proposed.
  static let several: [([String], [String], gone: [String], new: [String])] = [
    (["text"], ["color", "weather"], ["text"], ["color", "weather"]),
    (["text", "name"], ["x"], ["name", "text"], ["x"]),
    (["text"], ["textBody", "textSize"], ["text"], ["textBody", "textSize"]),
    (["text"], ["textBody", "weather"], ["text"], ["textBody"]), (["text"], ["a", "b", "c", "d"], [], []),
    (["creationDate", "fullName"], ["dateCreated", "name"], ["creationDate"], ["dateCreated"]),
    (["noteText", "noteTexts"], ["noteTextOld"], ["noteText", "noteTexts"], ["noteTextOld"]),
  ]

  @Test(arguments: several, [false, true])
  func `where several are as alike, all are named in any order and none is proposed`(
    names: (before: [String], after: [String], gone: [String], new: [String]), isReversed: Bool
  ) throws {
    func make(_ names: [String]) throws -> ManagedObjectModel {
      let entity = Make.entity("E", (isReversed ? names.reversed() : names).map { attribute($0) })
      return try ManagedObjectModel(entities: [entity])
    }
    let renames = ModelDifference(from: try make(names.before), to: try make(names.after)).renames
    let first = renames.first { names.gone.contains($0.removed) }
    #expect(renames.isEmpty == names.gone.isEmpty)
    #expect(([first?.removed].compactMap(\.self) + (first?.rivals ?? [])).sorted() == names.gone, "\(renames)")
    #expect(([first?.added].compactMap(\.self) + (first?.alternatives ?? [])).sorted() == names.new, "\(renames)")
    guard let first else { return }
    let isOne = names.gone.count == 1 && names.new.count == 1
    #expect(first.isProposal == isOne)
    #expect(first.advice.contains("the renaming identifier \"\(first.removed)\"") == (names.gone.count == 1))
    #expect(first.advice.contains("Give \"\(first.added)\"") == (names.new.count == 1), "\(first.advice)")
    // None of several is proposed, and none is left out.
    for advice in [first.advice, first.sourceAdvice] where names.gone.count > 1 {
      for name in names.gone { #expect(advice.contains("\"\(name)\""), "\(advice)") }
    }
    for name in names.gone + names.new { #expect(first.question.contains("\"\(name)\""), "\(first.question)") }
  }

  @Test func `two new entities like the one that is gone are both named`() throws {
    let before = try model(entity("Note", attribute("text"), attribute("date", .date)))
    for names in [["Aside", "Page"], ["Page", "Aside"]] {
      let after = try ManagedObjectModel(
        entities: names.map { entity($0, attribute("text"), attribute("date", .date)) })
      let renames = ModelDifference(from: before, to: after).renames
      #expect(renames.count == 1 && renames.allSatisfy { !$0.isProposal })
      #expect(renames.first.map { [$0.added] + $0.alternatives }?.sorted() == ["Aside", "Page"])
    }
  }

  @Test func `two entities that are gone and one like them are named, with the identifiers that they have`() throws {
    var note = entity("Note", attribute("text"), attribute("date", .date))
    note.renamingIdentifier = "Memo"
    let old = entity("Old", attribute("text"), attribute("date", .date))
    let after = try model(entity("Page", attribute("text"), attribute("date", .date)))
    for before in [[note, old], [old, note]] {
      let renames = ModelDifference(from: try ManagedObjectModel(entities: before), to: after).renames
      #expect(renames.count == 1 && renames.allSatisfy { !$0.isProposal })
      let advice = try #require(renames.first?.advice)
      #expect(advice.contains("(\"Memo\" or \"Old\")") && !advice.contains("elementID=\""), "\(advice)")
      #expect(renames.first?.question.contains("\"Note\", \"Old\"") == true)
    }
  }

  @Test func `entities and relationships are suspected too, and an inverse that stays counts`() throws {
    let before = try model(
      entity("Note", attribute("text"), attribute("date", .date)),
      entity("Tag", relationships: [toOne("owner", "User")]),
      entity("User"))
    let after = try model(
      entity("Page", attribute("text"), attribute("date", .date)),
      entity("Tag", relationships: [toOne("holder", "User")]),
      entity("User"))
    let renames = ModelDifference(from: before, to: after).renames
    #expect(renames.map(\.kind) == [.entity, .relationship])
    #expect(renames.map(\.removed) == ["Note", "owner"] && renames.map(\.added) == ["Page", "holder"])
    #expect(renames[0].sourceEntity == "Note" && renames[0].entity == "Page" && renames[0].score >= 0.7)
    #expect(renames[1].type == "to User" && renames[1].score >= 0.4)
  }

  @Test func `the entity that declares the property is named, and the one that its objects were of`() throws {
    let before = try model(entity("P", attribute("title")), entity("A", parent: "P"))
    let after = try model(entity("Q", id: "P", attribute("name")), entity("A", parent: "Q"))
    let renames = ModelDifference(from: before, to: after).renames
    #expect(renames.map(\.entity) == ["Q"] && renames.map(\.sourceEntity) == ["P"])
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct RenameCorpusTests {
  @Test func `a suspicion never changes a mapping, and following it makes the rename`() throws {
    var found: [String] = []
    let pairs = try CorpusPair.all().filter { !CorpusTests.unreadable.contains($0.name) }
    for pair in LongTests.selection(of: pairs, every: 6) {
      let (source, destination) = try pair.models()
      let difference = ModelDifference(from: source, to: destination)
      for suspicion in difference.renames {
        found.append("\(pair.name) \(suspicion.entity).\(suspicion.removed) → \(suspicion.added) \(suspicion.score)")
        let mapping = try? MappingInference(from: source, to: destination).mappingModel()
        if suspicion.kind == .entity {
          let names = mapping?.entityMappings.map { [$0.sourceEntityName, $0.destinationEntityName] } ?? []
          #expect(!names.contains([suspicion.removed, suspicion.added]))
          continue
        }
        let removed = difference.changes.filter { $0.property == suspicion.removed && $0.kind != .indexRemoved }
        let added = difference.changes.filter { $0.property == suspicion.added && $0.entity == suspicion.entity }
        #expect(removed.contains { $0.kind == .attributeRemoved || $0.kind == .relationshipRemoved }, "\(suspicion)")
        #expect(added.contains { $0.kind == .attributeAdded || $0.kind == .relationshipAdded }, "\(suspicion)")
        let followed = ModelDifference(from: source, to: try Self.following(suspicion, in: destination))
        #expect(!followed.renames.contains { $0.added == suspicion.added && $0.entity == suspicion.entity })
        let kinds = followed.changes.filter { $0.property == suspicion.added && $0.entity == suspicion.entity }.map(
          \.kind)
        #expect(kinds.contains(.attributeRenamed) || kinds.contains(.relationshipRenamed), "\(suspicion)")
      }
    }
    if LongTests.areOn {
      print("Suspected renames in the corpus: \(found.count)\n  " + found.joined(separator: "\n  "))
    }
  }

  private static func following(
    _ suspicion: RenameSuspicion, in model: ManagedObjectModel
  ) throws -> ManagedObjectModel {
    var entities = model.entities
    let entity = try #require(entities.firstIndex { $0.name == suspicion.entity })
    if let index = entities[entity].attributes.firstIndex(where: { $0.name == suspicion.added }) {
      entities[entity].attributes[index].renamingIdentifier = suspicion.renamingIdentifier
    } else {
      let index = try #require(entities[entity].relationships.firstIndex { $0.name == suspicion.added })
      entities[entity].relationships[index].renamingIdentifier = suspicion.renamingIdentifier
    }
    return try ManagedObjectModel(entities: entities, configurations: model.configurations)
  }
}
