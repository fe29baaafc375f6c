import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping
import TestSupport
import Testing

/// The source that is printed for changes that can't be inferred.
struct MappingSkeletonTests {
  /// Makes two models with names as odd as models allow, and an obstacle of every kind that a skeleton covers.
  private static func models() throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    func odd(_ type: AttributeType) -> EntityDescription {
      Make.entity("2 \"odd\" \\(names)\u{2028}ö", [Make.attribute("it's \\n \"x\"", type), Make.attribute("y")])
    }
    let source = [
      Make.entity(
        "Note", [Make.attribute("mood", .string), Make.attribute("image", .binary, external: true)],
        [Make.toMany("tags", "Tag", "notes"), Make.toOne("other", "Old")]),
      Make.entity("Tag", [], [Make.toMany("notes", "Note", "tags")]), Make.entity("Old", []), odd(.string),
      Make.entity("Left", []), Make.entity("Right", []), Make.entity("Far", []),
      Make.entity("Farther", [], parent: "Far"),
      Make.entity("A", [], id: "same"), Make.entity("B", [], id: "same"),
    ]
    let destination = [
      Make.entity(
        "Note", [Make.attribute("mood", .date), Make.attribute("image", .binary)],
        [Make.toMany("tags", "Tag", "notes"), Make.toOne("other", "Left")]),
      Make.entity("Tag", [], [Make.toMany("notes", "Note", "tags")]), Make.entity("Old", []), odd(.uuid),
      Make.entity("Root", [], isAbstract: true), Make.entity("Left", [], parent: "Root"),
      Make.entity("Right", [], parent: "Root"), Make.entity("Far", []), Make.entity("Farther", [], parent: "Far"),
      Make.entity("C", [], id: "same"), Make.entity("D", [], id: "same"),
    ]
    return (try ManagedObjectModel(entities: source), try ManagedObjectModel(entities: destination))
  }

  @Test func `there is something to fill in for each obstacle`() throws {
    let (source, destination) = try Self.models()
    let inference = MappingInference(from: source, to: destination)
    let kinds = Set(inference.obstacles.map(\.kind))
    #expect(
      kinds == [
        .incompatibleTypes, .externalStorageDisabled, .mergedHierarchies, .ambiguousEntity, .relationshipDestination,
      ])
    let text = try #require(MappingSkeleton(inference)).source
    for word in [
      "EntityMapping(from: \"Note\", to: \"Note\", policy: NotePolicy.self)", "class NotePolicy: EntityMigrationPolicy",
      "destination[\"mood\"] = …, a value of type Date", "destination[\"image\"]", "forRelationship: \"other\"",
      "NotFilledIn(hole: \"Note.image, Note.mood\"", "\"C, D from A, B\"", "EntityMapping(from: \"A\", to: \"C\")",
      "EntityMapping(from: \"B\", to: \"D\")",
    ] {
      #expect(text.contains(word), "\(word)")
    }
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 || $0.contains("odd") })
    // The same source is passed on if inference fails.
    let error = try #require(throws: MappingInferenceError.self) { try inference.mappingModel() }
    #expect(error.skeleton == text)
    #expect(MappingSkeleton(from: source, to: source) == nil)
  }

  @Test func `what the skeleton says is all that was missing`() throws {
    let (source, destination) = try Self.models()
    let inference = MappingInference(from: source, to: destination)
    let skeleton = try #require(MappingSkeleton(inference)).source
    // This is the content of the source's builder, except for what can't be told at all.
    let given = inference.mappingModelForTests().filter { mapping in
      guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { return false }
      return skeleton.contains("EntityMapping(from: \"\(from)\", to: \"\(to)\"") || from.contains("odd")
    }
    let pairs = given.map { ($0.sourceEntityName, $0.destinationEntityName) } + [("A", "C"), ("B", "D")]
    let completed = MappingInference(
      from: source, to: destination, given: pairs.map { EntityMapping(from: $0, to: $1, policyNamed: "P") })
    #expect(completed.obstacles.isEmpty)
  }

  /// Makes an entity whose attributes go to a new one: equal names, similar names, and one without a place.
  private static func split(
    _ relationships: (leaflet: [RelationshipDescription], content: [RelationshipDescription]),
    required: [AttributeDescription] = []
  ) throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    let before = [
      Make.attribute("body"), Make.attribute("picture", .binary), Make.attribute("stars", .integer16),
      Make.attribute("title"),
    ]
    let content = [Make.attribute("bodyText"), Make.attribute("picture", .binary)] + required
    return (
      try ManagedObjectModel(entities: [Make.entity("Leaflet", before), Make.entity("Shelf", [Make.attribute("no")])]),
      try ManagedObjectModel(entities: [
        Make.entity("Leaflet", [Make.attribute("title")], relationships.leaflet),
        Make.entity("LeafletContent", content, relationships.content),
      ])
    )
  }

  private static let oneToOne = (
    leaflet: [Make.toOne("content", "LeafletContent", "leaflet", optional: false)],
    content: [Make.toOne("leaflet", "Leaflet", "content", optional: false)]
  )

  @Test func `a split gets a policy, and what has no place a line each`() throws {
    let (source, destination) = try Self.split(Self.oneToOne)
    let inference = MappingInference(from: source, to: destination)
    #expect(inference.obstacles.isEmpty)
    let text = try #require(MappingSkeleton(inference)).source
    // This is the very class that the test below runs.
    let policy = text[try #require(text.range(of: "/// Creates Leaflet from Leaflet.")).lowerBound...]
    let here = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    #expect(here.contains("\n\n" + policy), "\(text)")
    for line in [
      #"EntityMapping(from: "Leaflet", to: "Leaflet", policy: LeafletPolicy.self) {"#,
      #"// PropertyMapping("…", copying: "stars")"#, #"// EntityMapping(from: "Shelf", to: "…")"#,
      #""Leaflet.stars",  // a loss"#, #""Shelf",  // a loss"#,
    ] {
      #expect(text.contains(line), "\(line) in \(text)")
    }
    #expect(!text.contains("\"Leaflet.body\",  // a loss") && !text.contains("\"Leaflet.picture\",  // a loss"))
  }

  @Test(
    arguments: [
      (
        "content alone leads", (leaflet: [Make.toOne("content", "LeafletContent")], content: []),
        #"destination[toOne: "content"]"#
      ),
      (
        "the part alone leads", (leaflet: [], content: [Make.toOne("owner", "Leaflet")]),
        #"newLeafletContent[toOne: "owner"]"#
      ),
      (
        "to many", (leaflet: [Make.toMany("contents", "LeafletContent")], content: []),
        #"destination[toMany: "contents"]"#
      ),
      ("nothing leads", (leaflet: [], content: []), #"newLeafletContent["picture"] = source["picture"]"#),
    ] as [(String, (leaflet: [RelationshipDescription], content: [RelationshipDescription]), String)])
  func `a split is seen whatever leads from one to the other`(
    name: String, relationships: (leaflet: [RelationshipDescription], content: [RelationshipDescription]), line: String
  ) throws {
    let (source, destination) = try Self.split(relationships)
    let text = try #require(MappingSkeleton(from: source, to: destination)).source
    #expect(text.contains(line), "\(text)")
    // Without a link, a name that is only similar says too little.
    #expect(text.contains("Leaflet.body\"") == (name == "nothing leads"))
  }

  @Test func `the policy that is written for a split keeps the values`() throws {
    let (source, destination) = try Self.split(Self.oneToOne)
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: source, objects: 9, seed: 3)
    let before = try #require(try StoreContents(of: store, model: source).objects["Leaflet"])
    var history = ModelHistory(current: destination, earlier: [("1", source)])
    try history.addStep()
    let assistant = MigrationAssistant(store, history)
    try assistant.migrate()
    let after = try StoreContents(of: store, model: destination)
    #expect(before.count == 9)
    for (key, old) in before {
      let new = try #require(after.objects["Leaflet"]?[key])
      let link = try #require(new.links["content"]?.first)
      let content = try #require(after.objects["LeafletContent"]?[link])
      #expect(new.values["title"] == old.values["title"])
      #expect(content.values["bodyText"] == old.values["body"] && content.values["picture"] == old.values["picture"])
      #expect(content.links["leaflet"] == [key])
    }
    #expect(after.objects["LeafletContent"]?.count == 9)
    withExtendedLifetime(directory) {}
  }

  @Test func `what nobody decided stops the migration`() throws {
    let (source, destination) = try Self.split(Self.oneToOne, required: [Make.attribute("kind", optional: false)])
    let text = try #require(MappingSkeleton(from: source, to: destination)).source
    #expect(
      text.contains(#"guard undecided.isEmpty else { throw NotFilledIn(hole: undecided.joined(separator: ", ")) }"#))
    #expect(text.contains(#"throw NotFilledIn(hole: "LeafletContent.kind""#))
  }

  /// A quick run takes every fifth hop of a long history.
  private static func pairs() throws -> [(name: String, source: ManagedObjectModel, destination: ManagedObjectModel)] {
    let odd = try models()
    var pairs = [(name: "odd", source: odd.source, destination: odd.destination)]
    let several: [(leaflet: [RelationshipDescription], content: [RelationshipDescription])] = [
      oneToOne, ([], []), ([Make.toMany("contents", "LeafletContent")], []),
    ]
    for relationships in several {
      for required in [[], [Make.attribute("class", optional: false)]] {
        let (source, destination) = try split(relationships, required: required)
        pairs.append(("split", source, destination))
      }
    }
    guard Corpus.isPresent else { return pairs }
    for bundle in Set(Corpus.modelPaths.filter { !$0.contains("@") }.map { ($0 as NSString).deletingLastPathComponent })
      .sorted()
    where bundle.hasSuffix(".xcdatamodeld") {
      let versions = try ModelVersionList(Corpus.folder.appendingPathComponent(bundle).path).versions
      let hops = Array(zip(versions, versions.dropFirst()))
      for (old, new) in LongTests.selection(of: hops, every: hops.count > 20 ? 5 : 1) {
        let (source, destination) = (try Corpus.model(at: old.file.path), try Corpus.model(at: new.file.path))
        guard source.versionHashes() != destination.versionHashes() else { continue }
        pairs.append(("\(bundle) \(old.name) to \(new.name)", source, destination))
      }
    }
    return pairs
  }

  @Test func `every loss and obstacle has its line, in histories of real apps too`() throws {
    var (count, splits) = (0, 0)
    for (name, source, destination) in try Self.pairs() {
      let inference = MappingInference(from: source, to: destination)
      let losses = inference.effects.filter { $0.kind.severity == .loss }
      guard let text = MappingSkeleton(inference)?.source else {
        #expect(inference.obstacles.isEmpty && losses.isEmpty, "\(name)")
        continue
      }
      count += 1
      if text.contains("ontext.insert(") { splits += 1 }
      let code = text.split(separator: "\n").map { $0.drop { $0 == " " } }
      let lines = code.filter { !$0.hasPrefix("//") || $0.hasPrefix("// EntityMapping") || $0.hasPrefix("// Property") }
      // The names of the odd pair are escaped; they have a test of their own.
      if name == "odd" { continue }
      for loss in losses {
        let subject = ([loss.entity] + loss.properties).joined(separator: ".")
        let decided = lines.contains { $0 == "\"\(subject)\",  // a loss" }
        let moved =
          loss.properties.first.map { name in lines.contains { $0.contains("= source[\"\(name)\"]") } } ?? false
        let claimed = inference.obstacles.contains {
          $0.kind == .ambiguousEntity && $0.reason.contains("\"\(loss.entity)\"")
        }
        #expect(decided || moved || claimed, "\(name): \(subject)")
      }
      for obstacle in inference.obstacles {
        let property = obstacle.property
        #expect(
          lines.contains { line in
            line.contains("NotFilledIn(hole") && (property.map { line.contains(".\($0)") } ?? false)
              || line.hasPrefix("\"\(obstacle.entity)") || line.hasPrefix("EntityMapping(from: ") && property == nil
          }, "\(name): \(obstacle.reason)")
      }
    }
    print("skeletons: \(count), with a split: \(splits)")
    #expect(count >= 7 && splits >= 6)
  }

  @Test(.enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"))
  func `the source compiles as it is`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("Skeletons.swift")
    // One file holds all, each in a type of its own.
    var text = "import Heirloom\n"
    for (index, pair) in try Self.pairs().enumerated() where index < 60 || LongTests.areOn {
      guard let skeleton = MappingSkeleton(from: pair.source, to: pair.destination)?.source else { continue }
      text += "\n/// \(pair.name)\n" + SkeletonRunTests.nested(skeleton, in: "Skeleton\(index)")
    }
    text += SkeletonRunTests.stepping
    try Data(text.utf8).write(to: file)
    let (code, output) = try SwiftCompiler.check([file])
    #expect(code == 0, "\(output)")
    withExtendedLifetime(directory) {}
  }
}

extension ModelHistory {
  /// Adds the skeleton's step for a split, once its lines are decided.
  fileprivate mutating func addStep() throws {
    try step(from: "1", to: "current") {
      EntityMapping(from: "Leaflet", to: "Leaflet", policy: LeafletPolicy.self) {
        // PropertyMapping("…", copying: "stars")
      }
      // EntityMapping(from: "Shelf", to: "…")
    }
  }
}

/// Creates Leaflet from Leaflet.
final class LeafletPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    // What can be inferred is copied; both objects are associated.
    let destination = try manager.createDestinationInstance(forSource: source, in: mapping)
    // The values that "Leaflet" no longer has go to an object of "LeafletContent".
    let newLeafletContent = try manager.destinationContext.insert("LeafletContent")
    newLeafletContent["bodyText"] = source["body"]
    newLeafletContent["picture"] = source["picture"]
    newLeafletContent[toOne: "leaflet"] = destination
  }
}

extension MappingInference {
  fileprivate func mappingModelForTests() -> [EntityMapping] { draft.entityMappings }
}
