import HeirloomCompare
import HeirloomCompare
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

/// An edit of a model that has something of everything.
struct Edit: Sendable, CustomTestStringConvertible {
  let name: String
  let apply: @Sendable (inout [EntityDescription]) -> Void

  init(_ name: String, _ apply: @escaping @Sendable (inout [EntityDescription]) -> Void) {
    self.name = name
    self.apply = apply
  }

  var testDescription: String { name }
}

struct ModelDifferenceTests {
  static let entities: [EntityDescription] = [
    entity("P", attribute("n"), relationships: [toMany("items", "Q", inverse: "owner")], unique: [["n"]]) {
      $0.indexes = [FetchIndexDescription(name: "i", elements: [FetchIndexElementDescription(property: "n")])]
      $0.fetchedProperties = [
        FetchedPropertyDescription(name: "f", fetchRequest: FetchRequestDescription(name: "r", entityName: "P"))
      ]
      $0.codeGenerationType = "class"
    },
    entity(
      "Q", attribute("x", .integer32) { $0.usesScalarValueType = true }, ChangeTable.derived("d", "canonical:(y)"),
      attribute("c", .composite) {
        $0.composite = CompositeAttributeDescription(name: "C", elements: [attribute("a"), attribute("b")])
      },
      relationships: [toOne("owner", "P", inverse: "items")]),
    entity("R", parent: "P"),
  ]

  static let attributeEdits: [Edit] = [
    Edit("type") { $0[1].attributes[0].type = .integer64 },
    Edit("optional") { $0[1].attributes[0].isOptional = false },
    Edit("transient") { $0[1].attributes[0].isTransient = true },
    Edit("default") { $0[1].attributes[0].defaultValue = .integer(1) },
    Edit("renaming identifier") { $0[1].attributes[0].renamingIdentifier = "x" },
    Edit("hash modifier") { $0[1].attributes[0].versionHashModifier = "m" },
    Edit("external storage") { $0[1].attributes[0].allowsExternalBinaryDataStorage = true },
    Edit("preservation") { $0[1].attributes[0].preservesValueInHistoryOnDeletion = true },
    Edit("encryption") { $0[1].attributes[0].allowsCloudEncryption = true },
    Edit("Spotlight") { $0[1].attributes[0].isIndexedBySpotlight = true },
    Edit("external record") { $0[1].attributes[0].isStoredInExternalRecord = true },
    Edit("value class") { $0[1].attributes[0].attributeValueClassName = "C" },
    Edit("transformer") { $0[1].attributes[0].valueTransformerName = "T" },
    Edit("validation") { $0[1].attributes[0].validationRules = [ValidationRule(predicate: .alwaysTrue)] },
    Edit("scalar") { $0[1].attributes[0].usesScalarValueType = false },
    Edit("user info") { $0[1].attributes[0].userInfo = ["a": "b"] },
    Edit("name") { $0[1].attributes[0].name = "z" },
    Edit("derivation") { $0[1].attributes[1].derivation?.derivationExpression = .unparsed("now()") },
    Edit("no derivation") { $0[1].attributes[1].derivation = nil },
    Edit("element") { $0[1].attributes[2].composite?.elements.removeLast() },
    Edit("element type") { $0[1].attributes[2].composite?.elements[0].type = .date },
    Edit("element default") { $0[1].attributes[2].composite?.elements[0].defaultValue = .string("a") },
    Edit("element order") { $0[1].attributes[2].composite?.elements.reverse() },
    Edit("composite name") { $0[1].attributes[2].composite?.name = "D" },
  ]

  static let otherEdits: [Edit] = [
    Edit("destination") {
      $0[1].relationships[0].destinationEntity = "R"
    },
    Edit("inverse") { $0[1].relationships[0].inverseRelationship = nil },
    Edit("relationship optional") { $0[1].relationships[0].isOptional = false },
    Edit("relationship transient") { $0[1].relationships[0].isTransient = true },
    Edit("minimum") { $0[1].relationships[0].minCount = 1 },
    Edit("maximum") { $0[0].relationships[0].maxCount = 9 },
    Edit("to-many") { $0[1].relationships[0].maxCount = 0 },
    Edit("delete rule") { $0[1].relationships[0].deleteRule = .deny },
    Edit("ordered") { $0[0].relationships[0].isOrdered = true },
    Edit("relationship renaming identifier") { $0[1].relationships[0].renamingIdentifier = "owner" },
    Edit("relationship modifier") { $0[1].relationships[0].versionHashModifier = "m" },
    Edit("relationship Spotlight") { $0[1].relationships[0].isIndexedBySpotlight = true },
    Edit("relationship validation") {
      $0[1].relationships[0].validationRules = [ValidationRule(predicate: .alwaysTrue)]
    },
    Edit("relationship user info") { $0[1].relationships[0].userInfo = ["a": "b"] },
    Edit("parent") { $0[2].superentity = nil },
    Edit("abstract") { $0[2].isAbstract = true },
    Edit("class") { $0[2].managedObjectClassName = "R" },
    Edit("entity renaming identifier") { $0[2].renamingIdentifier = "R" },
    Edit("entity modifier") { $0[2].versionHashModifier = "m" },
    Edit("fetched property") { $0[0].fetchedProperties[0].fetchRequest.fetchLimit = 1 },
    Edit("no fetched property") { $0[0].fetchedProperties = [] },
    Edit("index") { $0[0].indexes[0].elements[0].isAscending = false },
    Edit("no index") { $0[0].indexes = [] },
    Edit("constraint") { $0[0].uniquenessConstraints = [] },
    Edit("Spotlight name") { $0[2].coreSpotlightDisplayNameExpression = .keyPath("n") },
    Edit("code generation") { $0[0].codeGenerationType = "category" },
    Edit("entity user info") { $0[2].userInfo = ["a": "b"] },
    Edit("entity") { $0.removeLast() },
  ]

  @Test(arguments: attributeEdits + otherEdits)
  func `no edit of a model goes unnoticed, in either direction`(edit: Edit) throws {
    var edited = Self.entities
    edit.apply(&edited)
    let before = try ManagedObjectModel(entities: Self.entities)
    let after = try ManagedObjectModel(entities: edited)
    for (source, destination) in [(before, after), (after, before)] {
      let difference = ModelDifference(from: source, to: destination)
      let isSameHash = source.versionHashes() == destination.versionHashes()
      #expect(!difference.changes.isEmpty)
      #expect(difference.verdict != .identical)
      #expect((difference.verdict == .compatible) == isSameHash)
      #expect(difference.changes.contains { $0.isHashed } == !isSameHash)
      #expect(unexplainedHashes(from: source, to: destination).isEmpty)
    }
  }

  @Test func `what only model sources know is no difference to a model that doesn't know it`() throws {
    var compiled = Self.entities
    compiled[0].codeGenerationType = nil
    compiled[1].attributes[0].usesScalarValueType = nil
    compiled[1].attributes[2].composite?.name = nil
    let difference = ModelDifference(
      from: try ManagedObjectModel(entities: Self.entities), to: try ManagedObjectModel(entities: compiled))
    #expect(difference.verdict == .identical)
  }

  @Test func `configurations, fetch requests and version identifiers are compared but need no migration`() throws {
    let entities = [entity("E"), entity("F")]
    func request(_ name: String, limit: Int) -> FetchRequestDescription {
      var request = FetchRequestDescription(name: name, entityName: "E")
      request.fetchLimit = limit
      return request
    }
    let before = try ManagedObjectModel(
      entities: entities, versionIdentifiers: ["1"],
      configurations: [
        ConfigurationDescription(name: "A", entityNames: ["E"]),
        ConfigurationDescription(name: "B", entityNames: ["E"]),
      ],
      fetchRequestTemplates: [request("p", limit: 1), request("q", limit: 1)])
    let after = try ManagedObjectModel(
      entities: entities, versionIdentifiers: ["2"],
      configurations: [
        ConfigurationDescription(name: "B", entityNames: ["E", "F"]),
        ConfigurationDescription(name: "C", entityNames: ["F"]),
      ],
      fetchRequestTemplates: [request("q", limit: 2), request("r", limit: 1)])
    let difference = ModelDifference(from: before, to: after)
    #expect(difference.verdict == .compatible)
    #expect(
      difference.changes.map(\.code) == [
        "versionIdentifiersChanged model nothing", "configurationRemoved A nothing", "configurationChanged B nothing",
        "configurationAdded C nothing", "fetchRequestRemoved p nothing", "fetchRequestChanged q nothing",
        "fetchRequestAdded r nothing",
      ])
  }

  /// Changes of the relationship that goes to another entity than before.
  static let beside: [Edit] = [
    Edit("nothing") { _ in }, Edit("ordered") { $0[0].relationships[0].isOrdered = true },
    Edit("maximum") { $0[0].relationships[0].maxCount = 7 }, Edit("to-one") { $0[0].relationships[0].maxCount = 1 },
    Edit("renamed") {
      $0[0].relationships[0].name = "labels"
      $0[0].relationships[0].renamingIdentifier = "tags"
      $0[1].relationships[0].inverseRelationship = "labels"
    },
    Edit("no inverse") {
      $0[0].relationships[0].inverseRelationship = nil
      $0[1].relationships = []
    },
  ]

  @Test(arguments: beside)
  func `links that are dropped with their entity are kept by no other change of the relationship`(_ edit: Edit) throws {
    func entities(_ other: String) -> [EntityDescription] {
      [
        entity("Item", attribute("n"), relationships: [toMany("tags", other, inverse: "items")]),
        entity(other, attribute("t"), relationships: [toMany("items", "Item", inverse: "tags")]),
      ]
    }
    var after = entities("Label")
    edit.apply(&after)
    let changes = ModelDifference(
      from: try ManagedObjectModel(entities: entities("Tag")), to: try ManagedObjectModel(entities: after)
    ).changes.filter { $0.entity == "Item" && ["tags", "labels"].contains($0.property) }
    #expect(changes.contains { $0.effect == .dropped } && !changes.contains { $0.effect == .kept }, "\(changes)")
    for change in changes where change.kind == .inverseChanged {
      #expect(change.before == "Tag.items" && change.after == "Label.items", "\(change)")
    }
  }

  @Test func `sentences read as a person would say them`() throws {
    let before = try model(entity("E", attribute("title"), attribute("n", .integer64)))
    let after = try model(entity("E", attribute("name", id: "title"), required("n", .integer16, default: .integer(3))))
    #expect(
      ModelDifference(from: before, to: after).changes.map(\.description) == [
        "E.n: type changed from Integer 64 to Integer 16; possible only if the rows allow it.",
        "E.n: default changed to 3.",
        "E.n: became required; existing objects without a value get 3.",
        "E.name: renamed from \"title\"; everything is kept.", "E.name: renaming identifier changed to title.",
      ])
  }

  @Test func `a model with hundreds of properties is compared in reasonable time`() throws {
    func make(_ prefix: String) throws -> ManagedObjectModel {
      let entity = Make.entity("E", (0..<400).map { attribute("\(prefix)\($0)") })
      return try ManagedObjectModel(entities: [entity])
    }
    let difference = ModelDifference(from: try make("a"), to: try make("b"))
    #expect(difference.changes.count == 800)
    #expect(difference.effects.count == 400)
  }
}
