import Foundation
import Heirloom
import TestSupport
import Testing

struct InspectModelTests {
  struct Feature: CustomTestStringConvertible, Sendable {
    let words: String
    let change: @Sendable (inout Parts) -> Void

    var testDescription: String { words }

    init(_ words: String, _ change: @escaping @Sendable (inout Parts) -> Void) {
      (self.words, self.change) = (words, change)
    }
  }

  struct Parts {
    var note = EntityDescription(name: "Note")
    var tag = EntityDescription(name: "Tag")
    var text = AttributeDescription(name: "text", type: .string)
    var tags = RelationshipDescription(name: "tags", destinationEntity: "Tag")
    var notes = FetchedPropertyDescription(
      name: "similar", fetchRequest: FetchRequestDescription(name: "fetchedPropertyFetchRequest", entityName: "Tag"))
    var request = FetchRequestDescription(name: "all", entityName: "Tag")
    var identifiers: [String] = []
    var configurations: [ConfigurationDescription] = []

    func model() throws -> ManagedObjectModel {
      var note = note
      note.attributes = [text]
      note.relationships = [tags]
      note.fetchedProperties = [notes]
      return try ManagedObjectModel(
        entities: [note, tag], versionIdentifiers: identifiers, configurations: configurations,
        fetchRequestTemplates: [request])
    }
  }

  private static func comparison(_ comparator: PredicateDescription.Comparator, _ value: AttributeValue)
    -> PredicateDescription
  {
    .comparison(.init(left: .evaluatedObject, comparator: comparator, right: .constant(.value(value))))
  }

  static let entityFeatures: [Feature] = [
    Feature("Note: parent Tag") { $0.note.superentity = "Tag" },
    Feature("Tag: abstract") { $0.tag.isAbstract = true },
    Feature("class .Memo") { $0.note.managedObjectClassName = ".Memo" },
    Feature("code generation category") { $0.note.codeGenerationType = "category" },
    Feature("renaming identifier \"Record\"") { $0.note.renamingIdentifier = "Record" },
    Feature("Note: hash modifier \"2\"") { $0.note.versionHashModifier = "2" },
    Feature("Spotlight display name text") { $0.note.coreSpotlightDisplayNameExpression = .keyPath("text") },
    Feature("user info {\"a\" = \"b \\u{1b}[31m\"}") { $0.note.userInfo = ["a": "b \u{1B}[31m"] },
    Feature("index byText: text descending where SELF == 1") { parts in
      parts.note.indexes = [
        FetchIndexDescription(
          name: "byText",
          elements: [FetchIndexElementDescription(subject: .property("text"), isAscending: false)],
          partialIndexPredicate: comparison(.equal, .integer(1)))
      ]
    },
    Feature("index place: text ascending R-tree") { parts in
      parts.note.indexes = [
        FetchIndexDescription(
          name: "place", elements: [FetchIndexElementDescription(subject: .property("text"), collation: .rTree)])
      ]
    },
    Feature("as String ascending") { parts in
      parts.note.indexes = [
        FetchIndexDescription(
          name: "low", elements: [FetchIndexElementDescription(subject: .expression(.keyPath("text"), .string))])
      ]
    },
    Feature("unique: text") { $0.note.uniquenessConstraints = [["text"]] },
    Feature("identifiers  2.0") { $0.identifiers = ["2.0"] },
    Feature("configuration Cloud: Tag") {
      $0.configurations = [ConfigurationDescription(name: "Cloud", entityNames: ["Tag"])]
    },
  ]

  static let attributeFeatures: [Feature] =
    AttributeType.allCases.filter { ![.undefined, .composite, .string].contains($0) }.map { type in
      Feature("text: \(type.name)") { $0.text.type = type }
    } + [
      Feature("text: Undefined, required, transient") { ($0.text.type, $0.text.isTransient) = (.undefined, true) },
      Feature("text: String, optional") { $0.text.isOptional = true },
      Feature("default \"none\\n\"") { $0.text.defaultValue = .string("none\n") },
      Feature("default 0x00ff") { ($0.text.type, $0.text.defaultValue) = (.binary, .binary([0, 255])) },
      Feature("renaming identifier \"body\"") { $0.text.renamingIdentifier = "body" },
      Feature("text: String, required, hash modifier \"2\"") { $0.text.versionHashModifier = "2" },
      Feature("external storage") { ($0.text.type, $0.text.allowsExternalBinaryDataStorage) = (.binary, true) },
      Feature("preserved after deletion") { $0.text.preservesValueInHistoryOnDeletion = true },
      Feature("encrypted in CloudKit") { $0.text.allowsCloudEncryption = true },
      Feature("required, indexed by Spotlight") { $0.text.isIndexedBySpotlight = true },
      Feature("in an external record") { $0.text.isStoredInExternalRecord = true },
      Feature("values of NSFoo") { $0.text.attributeValueClassName = "NSFoo" },
      Feature("transformer NSBar") { ($0.text.type, $0.text.valueTransformerName) = (.transformable, "NSBar") },
      Feature("scalar in generated code") { $0.text.usesScalarValueType = true },
      Feature("object in generated code") { $0.text.usesScalarValueType = false },
      Feature("user info {\"k\" = \"v\"}") { $0.text.userInfo = ["k": "v"] },
      Feature("valid if SELF >= 3 (error 1670)") {
        $0.text.validationRules = [
          ValidationRule(predicate: comparison(.greaterThanOrEqual, .integer(3)), warning: .code(1670))
        ]
      },
      Feature("valid if SELF MATCHES \"[a-z]+\" (\"letters\")") {
        $0.text.validationRules = [
          ValidationRule(predicate: comparison(.matches, .string("[a-z]+")), warning: .message("letters"))
        ]
      },
      Feature("derived from tags.@count, counting") {
        $0.text.type = .integer64
        $0.text.derivation = DerivedAttributeDescription(
          derivationExpression: .keyPath("tags.@count"), filteringPredicate: comparison(.equal, .integer(1)))
      },
      Feature("      latitude: Double, optional") { parts in
        let latitude = Make.attribute("latitude", .double)
        var inner = AttributeDescription(name: "point", type: .composite)
        inner.composite = CompositeAttributeDescription(name: "Point", elements: [latitude])
        parts.text.type = .composite
        parts.text.composite = CompositeAttributeDescription(name: "Place", elements: [inner])
      },
    ]

  static let otherFeatures: [Feature] = [
    Feature("tags: to many Tag") { $0.tags.maxCount = 0 },
    Feature("at least 2, at most 9") { ($0.tags.minCount, $0.tags.maxCount) = (2, 9) },
    Feature("ordered") { ($0.tags.maxCount, $0.tags.isOrdered) = (0, true) },
    Feature("on deletion Deny") { $0.tags.deleteRule = .deny },
    Feature("to Tag, no inverse, optional") { $0.tags.isOptional = true },
    Feature("to Tag, no inverse, required, transient") { $0.tags.isTransient = true },
    Feature("inverse tags") { parts in
      (parts.tags.destinationEntity, parts.tags.inverseRelationship) = ("Note", "tags")
    },
    Feature("on deletion Nullify, indexed by Spotlight") { $0.tags.isIndexedBySpotlight = true },
    Feature("renaming identifier \"labels\"") { $0.tags.renamingIdentifier = "labels" },
    Feature("on deletion Nullify, hash modifier \"2\"") { $0.tags.versionHashModifier = "2" },
    Feature("on deletion Nullify, user info") { $0.tags.userInfo = ["k": "v"] },
    Feature("on deletion Nullify, valid if") {
      $0.tags.validationRules = [ValidationRule(predicate: comparison(.equal, .integer(1)))]
    },
    Feature("similar: fetched property, of Note") { $0.notes.fetchRequest.entityName = "Note" },
    Feature("similar: fetched property, of Tag, where SELF == 1") {
      $0.notes.fetchRequest.predicate = comparison(.equal, .integer(1))
    },
    Feature("similar: fetched property, of Tag, required") { $0.notes.isOptional = false },
    Feature("of Tag, optional, indexed by Spotlight") { $0.notes.isIndexedBySpotlight = true },
    Feature("renaming identifier \"alike\"") { $0.notes.renamingIdentifier = "alike" },
    Feature("of Tag, optional, hash modifier") { $0.notes.versionHashModifier = "2" },
    Feature("of Tag, optional, user info") { $0.notes.userInfo = ["k": "v"] },
    Feature("fetch request every: of Tag") { $0.request.name = "every" },
    Feature("fetch request all: of Note") { $0.request.entityName = "Note" },
    Feature("where SELF == 1") { $0.request.predicate = comparison(.equal, .integer(1)) },
    Feature("sorted by name descending then size ascending") {
      $0.request.sortDescriptors = [
        SortDescription(keyPath: "name", ascending: false), SortDescription(keyPath: "size"),
      ]
    },
    Feature("gives dictionaries") { $0.request.resultType = .dictionaries },
    Feature("gives object identifiers") { $0.request.resultType = .managedObjectIDs },
    Feature("gives a count") { $0.request.resultType = .count },
    Feature("limit 5") { $0.request.fetchLimit = 5 }, Feature("offset 6") { $0.request.fetchOffset = 6 },
    Feature("batch size 7") { $0.request.fetchBatchSize = 7 },
    Feature("without subentities") { $0.request.includesSubentities = false },
    Feature("without property values") { $0.request.includesPropertyValues = false },
    Feature("without pending changes") { $0.request.includesPendingChanges = false },
    Feature("no faults") { $0.request.returnsObjectsAsFaults = false },
    Feature("distinct") { $0.request.returnsDistinctResults = true },
    Feature("properties name and size") { $0.request.propertiesToFetch = ["name", "size"] },
    Feature("grouped by size") { $0.request.propertiesToGroupBy = ["size"] },
    Feature("prefetching a.b") { $0.request.relationshipKeyPathsForPrefetching = ["a.b"] },
    Feature("having SELF == 1") { $0.request.havingPredicate = comparison(.equal, .integer(1)) },
  ]

  @Test(arguments: entityFeatures + attributeFeatures + otherFeatures)
  func `every feature of a model is shown`(feature: Feature) throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    var parts = Parts()
    let plain = try Notebook.write(parts.model(), "Plain", in: directory)
    feature.change(&parts)
    let changed = try Notebook.write(parts.model(), "Changed", in: directory)
    #expect(!tool("inspect", plain).output.contains(feature.words))
    let text = tool("inspect", changed)
    #expect(text.output.contains(feature.words), "\(text.output)")
    func model(_ path: String) throws -> NSDictionary {
      try #require(try tool("inspect", path, "--json").json()["model"] as? NSDictionary)
    }
    #expect(try model(plain) != model(changed))
  }

  @Test func `a store shows its model's properties on request, and a program gets them always`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 2)
    let tool = Tool(directory: directory.url)
    #expect(!tool("inspect", store.path).output.contains("mood: String"))
    #expect(tool("inspect", store.path, "--properties").output.contains("mood: String, optional"))
    let model = try #require(try tool("inspect", store.path, "--json").json()["model"] as? [String: Any])
    #expect((model["entities"] as? [[String: Any]])?.first?["name"] as? String == "Note")
  }

  @Test func `what a file says and nobody knows is named`() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("Odd.xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Note" syncable="YES" sparkle="YES">
          <attribute name="text" optional="YES" attributeType="String" flavour="sweet"/>
          <gizmo/>
        </entity>
      </model>
      """
    try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
    let tool = Tool(directory: directory.url)
    let warnings = try #require(try tool("inspect", folder.path, "--json").json()["warnings"] as? [String])
    for word in ["sparkle", "flavour", "gizmo"] {
      #expect(warnings.contains { $0.contains(word) && $0.contains("Note") })
      #expect(tool("inspect", folder.path).output.contains(word))
    }
  }
}
