import Foundation
import Heirloom
import HeirloomCompare
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct DiagramCorpusTests {
  private let tool = Tool(directory: Corpus.folder)

  @Test(arguments: LongTests.selection(of: Corpus.modelPaths, every: 60))
  func `a picture has every entity and property, and nothing lies over anything`(path: String) throws {
    let outcome = tool("diagram", path)
    #expect(outcome.code == 0)
    let picture = try DrawnPicture(outcome.output)
    let model = try Corpus.model(at: Corpus.folder.appendingPathComponent(path).path)
    #expect(picture.boxes.map(\.entity) == model.entities.map(\.name))
    picture.expectOrder("\(path)")
    var lineCount = 0
    for (box, entity) in zip(picture.boxes, model.entities) {
      #expect(box.rows.filter { $0.kind != "element" }.map(\.property) == entity.properties.map(\.name))
      for row in box.rows where row.kind == "relationship" {
        #expect(picture.hasLine(at: row, of: box), "\(path): \(entity.name).\(row.property)")
      }
      for relationship in entity.relationships {
        // A relationship and its inverse share a line.
        let back = model.entity(named: relationship.destinationEntity)?.relationships.first {
          $0.name == relationship.inverseRelationship && $0.inverseRelationship == relationship.name
            && $0.destinationEntity == entity.name
        }
        let isSelf = back == relationship && relationship.destinationEntity == entity.name
        lineCount += back == nil || isSelf ? 2 : 1
      }
    }
    #expect(picture.lines.count { $0.kind == "relationship" } == lineCount / 2)
    #expect(picture.lines.count { $0.kind == "inheritance" } == model.entities.count { $0.superentity != nil })
    if model.entities.count >= 12 { #expect((0.7...2.0).contains(picture.width / picture.height), "\(path)") }
    #expect(tool("diagram", path).output == outcome.output)
  }

  @Test func `what differs between two versions is marked, and what is gone is there`() throws {
    let bundle = "woocommerce-ios/models/WooCommerce.xcdatamodeld"
    for first in LongTests.areOn ? Array(stride(from: 2, through: 105, by: 5)) : [22] {
      let paths = try [first, first + 12].map { try Corpus.modelURL("Model \($0)", in: bundle).path }
      let (before, after) = (paths[0], paths[1])
      let difference = try ModelDifference(from: Corpus.model(at: before), to: Corpus.model(at: after))
      let svg = tool("diagram", before, "--to", after).output
      let picture = try DrawnPicture(svg)
      picture.expectOrder("\(first)")
      for change in difference.changes {
        guard let entity = change.entity else { continue }
        let box = try #require(picture.boxes.first { $0.entity == entity }, "\(change)")
        let row = box.rows.first { $0.property == change.property }
        switch change.kind {
        case .entityAdded: #expect(box.mark == "added")
        case .entityRemoved: #expect(box.mark == "removed")
        case .attributeAdded, .relationshipAdded: #expect(row?.mark == "added", "\(change)")
        case .attributeRemoved, .relationshipRemoved: #expect(row?.mark == "removed", "\(change)")
        case .attributeRenamed, .relationshipRenamed: #expect(row?.mark == "renamed", "\(change)")
        default: #expect(row.map { $0.mark != "unchanged" } ?? (box.mark != "unchanged"), "\(change)")
        }
        // The sign says the same as the colour.
        let signs = ["added": "+", "removed": "−", "changed": "~", "renamed": "→"]
        if let row, let sign = signs[row.mark] { #expect(row.texts.first == sign) }
      }
      let marked = picture.boxes.count { box in box.mark != "unchanged" || box.rows.contains { $0.mark != "unchanged" }
      }
      #expect(marked == Set(difference.changes.compactMap(\.entity)).count)
      let part = try DrawnPicture(tool("diagram", before, "--to", after, "--changes").output)
      part.expectOrder("\(first), changes")
      #expect(part.boxes.count <= picture.boxes.count)
      let changed = { (picture: DrawnPicture) in
        picture.boxes.flatMap { box in box.rows.filter { $0.mark != "unchanged" }.map { "\(box.entity).\($0.property)" }
        }
      }
      #expect(changed(part) == changed(picture))
    }
  }

  // Graphviz is slow with a large model, even for a long run.
  @Test(
    arguments: stride(from: 5, to: Corpus.modelPaths.count, by: LongTests.areOn ? 31 : 150).map {
      Corpus.modelPaths[$0]
    })
  func `Mermaid and Graphviz have every entity and line, in their grammars`(path: String) throws {
    let model = try Corpus.model(at: Corpus.folder.appendingPathComponent(path).path)
    let lines = try DrawnPicture(tool("diagram", path).output).lines
    let mermaid = MermaidText(tool("diagram", path, "--format", "mermaid").output)
    #expect(mermaid.wrongLines == [])
    #expect(mermaid.entities.count == model.entities.count)
    #expect(mermaid.relationships == lines.count)
    let dot = tool("diagram", path, "--format", "dot").output
    #expect(dot.split(separator: "\n").count { $0.contains(" -> ") } == lines.count)
    #expect(
      dot.split(separator: "\n").count { $0.hasPrefix("  n") && $0.contains(" [label=<") } == model.entities.count)
    try Graphviz.expectDrawn(dot, entities: model.entities.count)
  }
}

struct DiagramTests {
  private static let hostile =
    HostileNamesTests.names + [
      "<script>alert(1)</script>", "</svg>", "&amp;", "x direction TB", "pk", "UK-1", "%%{init}", "erDiagram",
      "one to many",
      "a~b~c", "`", "{}", "]]>", "-->", "\u{FFFE}", "\\N", "<B>", "style", "end",
    ]

  private static func hostileModel() throws -> ManagedObjectModel {
    var entities = hostile.map { name in
      var entity = EntityDescription(name: name)
      let attribute = Make.attribute(name)
      let relationship = Make.toOne("r" + name.prefix(200), "Hub")
      entity.attributes = [attribute]
      entity.relationships = [relationship]
      return entity
    }
    entities.append(EntityDescription(name: "Hub"))
    return try ManagedObjectModel(entities: entities)
  }

  @Test func `whatever names are, the drawings are well-formed and hold nothing but text`() throws {
    let directory = try TemporaryDirectory()
    let model = try Self.hostileModel()
    let path = try Notebook.write(model, "Hostile \"<&", in: directory)
    let tool = Tool(directory: directory.url)
    let svg = tool("diagram", path).output
    let picture = try DrawnPicture(svg)
    picture.expectOrder("hostile")
    #expect(picture.boxes.count == model.entities.count)
    #expect(!svg.lowercased().contains("<script"))
    #expect(!svg.contains("\u{202E}"))
    // Nothing is loaded: the only address is the name of the language.
    #expect(svg.components(separatedBy: "http").count == 2)
    #expect(!svg.contains("url("))
    let plain = picture.boxes.filter { !$0.entity.contains("\\u{") && !$0.entity.contains("\u{FFFD}") }
    #expect(plain.allSatisfy { model.entity(named: $0.entity) != nil })
    #expect(plain.count >= model.entities.count - 3)
    let mermaid = MermaidText(tool("diagram", path, "--format", "mermaid").output)
    #expect(mermaid.wrongLines == [])
    #expect(Set(mermaid.entities).count == model.entities.count)
    #expect(mermaid.relationships == Self.hostile.count)
    try Graphviz.expectDrawn(tool("diagram", path, "--format", "dot").output, entities: model.entities.count)
  }

  @Test func `composites, derived and unique attributes and subentities are told`() throws {
    var person = Make.entity("Person", isAbstract: true)
    var name = AttributeDescription(name: "name", type: .composite)
    name.composite = CompositeAttributeDescription(elements: [
      AttributeDescription(name: "first", type: .string), AttributeDescription(name: "last", type: .string),
    ])
    person.attributes = [name, AttributeDescription(name: "number", type: .integer64)]
    person.uniquenessConstraints = [["number"]]
    var friends = Make.toMany("friends", "Person")
    friends.inverseRelationship = "friends"
    person.relationships = [friends]
    let writer = Make.entity("Writer", parent: "Person")
    let directory = try TemporaryDirectory()
    let path = try Notebook.write(try ManagedObjectModel(entities: [person, writer]), "People", in: directory)
    let picture = try DrawnPicture(Tool(directory: directory.url)("diagram", path).output)
    picture.expectOrder("people")
    let rows = try #require(picture.boxes.first).rows
    #expect(rows.map(\.property) == ["name", "name.first", "name.last", "number", "friends"])
    #expect(rows[3].texts == ["number", "Integer 64, unique"])
    #expect(rows[4].texts == ["friends", "[Person]"])
    #expect(picture.lines.map(\.kind) == ["relationship", "inheritance"])
    #expect(
      picture.root.children.contains {
        $0["data-entity"] == "Writer" && $0.children.contains { $0.text == "is a Person" }
      })
  }

  @Test func `a renamed property, a removed element and a changed type are told by sign and word`() throws {
    func model(_ change: (inout EntityDescription) -> Void) throws -> ManagedObjectModel {
      var note = EntityDescription(name: "Note")
      var place = AttributeDescription(name: "place", type: .composite)
      place.composite = CompositeAttributeDescription(elements: [
        AttributeDescription(name: "city", type: .string), AttributeDescription(name: "street", type: .string),
      ])
      note.attributes = [
        place, AttributeDescription(name: "stars", type: .integer16),
        AttributeDescription(name: "title", type: .string),
      ]
      change(&note)
      return try ManagedObjectModel(entities: [note])
    }
    let directory = try TemporaryDirectory()
    let before = try Notebook.write(try model { _ in }, "Before", in: directory)
    let after = try Notebook.write(
      try model { note in
        note.attributes[0].composite?.elements.removeLast()
        note.attributes[1].type = .integer64
        note.attributes[2].name = "headline"
        note.attributes[2].renamingIdentifier = "title"
      }, "After", in: directory)
    let tool = Tool(directory: directory.url)
    let rows = try #require(try DrawnPicture(tool("diagram", before, "--to", after).output).boxes.first).rows
    let told = rows.map { "\($0.texts.first ?? "") \($0.property) \($0.texts.last ?? "")" }
    #expect(told.contains("→ headline String"))
    #expect(told.contains("− place.street String"))
    #expect(told.contains("~ stars Integer 16 → Integer 64"))
    #expect(rows.contains { $0.texts.contains("headline (was title)") })
    #expect(MermaidText(tool("diagram", before, "--to", after, "--format", "mermaid").output).wrongLines == [])
  }

  @Test func `a drawing is written under the name that tells its language, and takes the place of nothing else`() throws
  {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 1)
    let bytes = StoreBytes(of: store)
    let tool = Tool(directory: directory.url)
    for (name, start) in [("a.svg", "<?xml"), ("a.mmd", "%% "), ("a.dot", "// ")] {
      #expect(tool("diagram", store.path, "--output", name).code == 0)
      let first = try String(contentsOf: directory.file(name), encoding: .utf8)
      #expect(first.hasPrefix(start))
      #expect(tool("diagram", store.path, "--output", name).code == 0)
      #expect(try String(contentsOf: directory.file(name), encoding: .utf8) == first)
    }
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let json = try tool("diagram", adding, "--output", "b.svg", "--json").json()
    #expect(json["path"] as? String == directory.file("b.svg").path)
    #expect(json["entities"] as? Int == 1)
    try Data("mine".utf8).write(to: directory.file("mine.svg"))
    #expect(try tool("diagram", adding, "--output", "mine.svg", "--json").failure()["code"] as? String == "fileExists")
    #expect(try String(contentsOf: directory.file("mine.svg"), encoding: .utf8) == "mine")
    for arguments in [
      ["--output", store.path], ["--output", "x.png"], ["--output", "x.svg", "--format", "dot"], ["--format", "png"],
      ["--changes"],
    ] {
      #expect(tool.run(["diagram", adding] + arguments).code == 2)
    }
    #expect(StoreBytes(of: store) == bytes)
  }
}
