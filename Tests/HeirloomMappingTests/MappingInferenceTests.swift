import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

struct MappingInferenceTests {
  /// Makes a folder with notes, and a later version of both.
  static func folders() throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    let source = try model(
      entity("Folder", attribute("name"), relationships: [toMany("notes", "Note", inverse: "folder")]),
      entity("Note", attribute("text"), relationships: [toOne("folder", "Folder", inverse: "notes")]),
      entity("Setting", attribute("value")), entity("Old", attribute("value")))
    let destination = try model(
      entity("Box", id: "Folder", attribute("name"), relationships: [toMany("notes", "Note", inverse: "box")]),
      entity(
        "Note", attribute("body", id: "text"), attribute("date", .date),
        relationships: [toOne("box", "Box", inverse: "notes", id: "folder"), toOne("author", "Author")]),
      entity("Setting", attribute("value")), entity("Author"))
    return (source, destination)
  }

  @Test func `inferred mappings have the names, types and order that delegates know`() throws {
    let (source, destination) = try Self.folders()
    let mapping = try MappingModel.inferred(from: source, to: destination)
    #expect(
      mapping.entityMappings.map(\.name)
        == ["IEM_Add_Author", "IEM_Transform_Folder", "IEM_Transform_Note", "IEM_Copy_Setting", "IEM_Remove_Old"])
    #expect(mapping.entityMappings.map(\.mappingType) == [.add, .transform, .transform, .copy, .remove])
    #expect(mapping.mismatches(from: source, to: destination).isEmpty)
  }

  @Test func `every attribute has a property mapping, a relationship only if it was there`() throws {
    let (source, destination) = try Self.folders()
    let mapping = try #require(
      try MappingModel.inferred(from: source, to: destination).entityMapping(named: "IEM_Transform_Note"))
    #expect(mapping.attributeMappings.map(\.name) == ["body", "date"])
    #expect(mapping.attributeMappings.map(\.form) == [.attribute("text"), .defaultValue])
    #expect(mapping.relationshipMappings.map(\.name) == ["box"])
    #expect(mapping.relationshipMappings.map(\.form) == [.links(relationship: "folder")])
    #expect(mapping.sourceEntityVersionHash == source.versionHashes()["Note"])
    #expect(mapping.destinationEntityVersionHash == destination.versionHashes()["Note"])
    #expect(mapping.sourceExpression?.sourceRows?.entity == "Note")
    #expect(mapping.sourceExpression?.sourceRows?.predicate == "TRUEPREDICATE")
  }

  @Test func `added and removed entities have one side only`() throws {
    let (source, destination) = try Self.folders()
    let mapping = try MappingModel.inferred(from: source, to: destination)
    let added = try #require(mapping.entityMapping(named: "IEM_Add_Author"))
    #expect(added.sourceEntityName == nil && added.sourceEntityVersionHash == nil && added.sourceExpression == nil)
    let removed = try #require(mapping.entityMapping(named: "IEM_Remove_Old"))
    #expect(removed.destinationEntityName == nil && removed.attributeMappings.isEmpty)
    #expect(removed.sourceEntityVersionHash == source.versionHashes()["Old"])
  }

  @Test func `from a model to itself everything is copied and nothing is to be asked`() throws {
    for model in try [Self.folders().source, Self.folders().destination] {
      let inference = MappingInference(from: model, to: model)
      let mapping = try inference.mappingModel()
      #expect(mapping.entityMappings.map(\.mappingType) == model.entities.map { _ in .copy })
      #expect(inference.effects.isEmpty)
    }
  }

  @Test func `equal hashes are no copy if an identifier drops the content`() throws {
    let source = try model(entity("E", attribute("x")))
    let destination = try model(entity("E", attribute("x", id: "other")))
    #expect(source.versionHashes() == destination.versionHashes())
    let mapping = try MappingModel.inferred(from: source, to: destination)
    #expect(mapping.entityMappings.map(\.mappingType) == [.transform])
    #expect(mapping.entityMappings.first?.attributeMappings.map(\.form) == [.defaultValue])
  }

  @Test func `all obstacles are reported at once`() throws {
    let source = try model(
      entity("A", attribute("n"), attribute("b", .binary) { $0.allowsExternalBinaryDataStorage = true }),
      entity("B", attribute("d", .date)), entity("C"))
    let destination = try model(
      entity("A", attribute("n", .integer32), attribute("b", .binary)), entity("B", attribute("d", .double)),
      entity("D", id: "C"), entity("E", id: "C"))
    let error = try #require(throws: MappingInferenceError.self) {
      try MappingModel.inferred(from: source, to: destination)
    }
    #expect(
      error.obstacles.map { "\($0.kind) \($0.entity).\($0.property ?? "")" } == [
        "externalStorageDisabled A.b", "incompatibleTypes A.n", "incompatibleTypes B.d", "ambiguousEntity D.",
      ])
    #expect(MappingObstacle.coreDataCode == 134_190)
    #expect(error.description.hasPrefix("No mapping can be inferred for 4 reasons, the first being: "))
  }

  @Test func `an obstacle in an inherited property is reported once, with the entity that declares it`() throws {
    func make(_ type: AttributeType) throws -> ManagedObjectModel {
      try model(
        entity("P", isAbstract: true, attribute("x", type)), entity("A", parent: "P"), entity("B", parent: "P"))
    }
    let inference = MappingInference(from: try make(.string), to: try make(.date))
    #expect(inference.obstacles.map { "\($0.entity).\($0.property ?? "")" } == ["P.x"])
  }

  @Test func `siblings merged into a parent's attribute keep their values`() throws {
    let source = try model(
      entity("P"), entity("A", parent: "P", attribute("x")), entity("B", parent: "P", attribute("y")))
    let destination = try model(
      entity("P", attribute("x")), entity("A", parent: "P"), entity("B", parent: "P"))
    let inference = MappingInference(from: source, to: destination)
    let mapping = try inference.mappingModel()
    #expect(mapping.entityMappings(toEntity: "A").first?.attributeMappings.map(\.form) == [.attribute("x")])
    #expect(mapping.entityMappings(toEntity: "P").first?.attributeMappings.map(\.form) == [.defaultValue])
    #expect(inference.effects.map { "\($0.kind.code) \($0.entity) \($0.properties)" } == [#"valuesDropped B ["y"]"#])
  }

  // MARK: - Given mappings

  @Test func `a given mapping replaces what shares its source or destination and the rest is inferred`() throws {
    let source = try model(
      entity("Records", attribute("answers", .binary)), entity("User", relationships: [toMany("days", "Records")]))
    let destination = try model(
      entity("DayRecord", attribute("answers", .string), attribute("mood")),
      entity("User", relationships: [toMany("days", "DayRecord")]))
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Records", to: "DayRecord", policyNamed: "RecordsToDayRecord")
    }
    #expect(mapping.entityMappings.map(\.name) == ["Records->DayRecord", "IEM_Transform_User"])
    #expect(mapping.entityMappings.map(\.mappingType) == [.custom, .transform])
    #expect(mapping.entityMappings.first?.destinationEntityVersionHash == destination.versionHashes()["DayRecord"])
    let inference = MappingInference(from: source, to: destination, given: mapping.entityMappings)
    #expect(inference.effects.isEmpty)
    #expect(try inference.mappingModel() == mapping)
  }

  @Test func `without the given mapping the same models lose objects and links`() throws {
    let source = try model(entity("Records"), entity("User", relationships: [toMany("days", "Records")]))
    let destination = try model(entity("DayRecord"), entity("User", relationships: [toMany("days", "DayRecord")]))
    let inference = MappingInference(from: source, to: destination)
    #expect(inference.obstacles.isEmpty)
    #expect(inference.effects.map(\.kind) == [.objectsDropped, .foreignLinks(to: ["Records"])])
  }

  @Test func `a given property mapping removes an obstacle, the other properties are filled in`() throws {
    let source = try model(entity("E", attribute("n"), attribute("t")))
    let destination = try model(entity("E", attribute("n", .integer64), attribute("t")))
    let number = PropertyMapping(
      name: "n",
      valueExpression: .function(
        operand: .variable("entityPolicy"), selector: "number:",
        arguments: [.keyPath(operand: .variable("source"), path: "n")]))
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "E", to: "E", attributeMappings: [number])
    }
    let entityMapping = try #require(mapping.entityMappings.first)
    #expect(entityMapping.mappingType == .transform)
    #expect(entityMapping.attributeMappings == [number, PropertyMapping(name: "t", copying: "t")])
  }

  @Test func `policies for all subentities remove an obstacle in what they inherit`() throws {
    func make(_ type: AttributeType) throws -> ManagedObjectModel {
      try model(
        entity("P", isAbstract: true, attribute("x", type)), entity("A", parent: "P"), entity("B", parent: "P"))
    }
    let (source, destination) = (try make(.string), try make(.date))
    let given = ["A", "B"].map { EntityMapping(from: $0, to: $0, policyNamed: "P") }
    #expect(MappingInference(from: source, to: destination, given: given).obstacles.isEmpty)
    #expect(MappingInference(from: source, to: destination, given: [given[0]]).obstacles.map(\.property) == ["x"])
  }

  @Test func `a given copy between types that don't convert is an obstacle still`() throws {
    let source = try model(entity("E", attribute("n")))
    let destination = try model(entity("E", attribute("n", .integer64)))
    let given = EntityMapping(from: "E", to: "E", attributeMappings: [PropertyMapping(name: "n", copying: "n")])
    #expect(
      MappingInference(from: source, to: destination, given: [given]).obstacles.map(\.kind) == [.incompatibleTypes])
  }

  @Test(arguments: [
    EntityMapping(from: "Nothing", to: "E"), EntityMapping(from: "E", to: "Nothing"), EntityMapping(from: nil, to: nil),
    EntityMapping(from: "E", to: "E", mappingType: .custom),
    EntityMapping(from: "E", to: "E", attributeMappings: [PropertyMapping(name: "nothing")]),
    EntityMapping(from: "E", to: "E", relationshipMappings: [PropertyMapping(name: "nothing")]),
    EntityMapping(from: "E", to: "E", attributeMappings: [PropertyMapping(name: "x", copying: "nothing")]),
  ])
  func `a given mapping that doesn't fit is an obstacle`(mapping: EntityMapping) throws {
    let versions = try model(entity("E", attribute("x")))
    let inference = MappingInference(from: versions, to: versions, given: [mapping])
    #expect(inference.obstacles.map(\.kind) == [.invalidMapping])
    #expect(throws: MappingInferenceError.self) { try inference.mappingModel() }
  }

  @Test func `a mapping model made for an edited model says which hash differs`() throws {
    let source = try model(entity("E", attribute("x")))
    let edited = try model(entity("E", attribute("x"), attribute("y")))
    let mapping = try MappingModel.inferred(from: source, to: source)
    let mismatch = try #require(mapping.mismatches(from: source, to: edited).first)
    guard case .destinationHash(let entity, let expected, let found) = mismatch.problem else {
      Issue.record("unexpected \(mismatch)")
      return
    }
    #expect(entity == "E" && expected == source.versionHashes()["E"] && found == edited.versionHashes()["E"])
  }

  @Test func `mappings of one name are refused`() throws {
    let versions = try model(entity("A"), entity("B"))
    let mapping = MappingModel(entityMappings: [
      EntityMapping(from: "A", to: "A", name: "M"), EntityMapping(from: "B", to: "B", name: "M"),
    ])
    #expect(mapping.mismatches(from: versions, to: versions).map(\.problem) == [.duplicateName])
  }

  @Test func `completion tells the types that a mapping file leaves open`() throws {
    let (source, destination) = try Self.folders()
    let open = MappingModel(entityMappings: [
      EntityMapping(from: "Folder", to: "Box"), EntityMapping(from: nil, to: "Author"),
      EntityMapping(from: "Old", to: nil), EntityMapping(from: "Setting", to: "Setting"),
      EntityMapping(from: "Note", to: "Note", policyNamed: "P"),
    ])
    let completed = open.completed(from: source, to: destination)
    #expect(completed.entityMappings.map(\.mappingType) == [.transform, .add, .remove, .copy, .custom])
    #expect(completed.entityMappings.map(\.name) == open.entityMappings.map(\.name))
    #expect(completed.completed(from: source, to: destination) == completed)
  }

  @Test func `what a policy makes is not asked about, whatever it becomes`() throws {
    let source = try model(entity("E", attribute("x"), attribute("gone")), entity("F", attribute("x")))
    let destination = try model(
      entity("E", isAbstract: true, required("x"), unique: [["x"]]),
      entity("F", required("x", id: "y"), unique: [["x"]]))
    let given = [
      EntityMapping(from: "E", to: "E", policyNamed: "P"), EntityMapping(from: "F", to: "F", policyNamed: "P"),
    ]
    #expect(MappingInference(from: source, to: destination, given: given).effects.isEmpty)
    #expect(
      MappingInference(from: source, to: destination).effects.map(\.kind.code)
        == ["uninstantiable", "duplicate", "missingValue", "valuesDropped"])
  }

  @Test func `an entity that is split in two loses only what neither part takes`() throws {
    let source = try model(entity("E", attribute("x"), attribute("y"), attribute("z")))
    let destination = try model(entity("A", attribute("x")), entity("B", attribute("y")))
    let given = [EntityMapping(from: "E", to: "A"), EntityMapping(from: "E", to: "B")]
    let inference = MappingInference(from: source, to: destination, given: given)
    #expect(try inference.mappingModel().entityMappings.map(\.name) == ["E->A", "E->B"])
    #expect(inference.effects.map(\.code) == ["valuesDropped E.z in E.z"])
  }

  @Test func `what an expression reads is not dropped, nor anything if it may read all`() throws {
    let source = try model(entity("E", attribute("first"), attribute("last")))
    let destination = try model(entity("E", required("name")))
    func dropped(_ expression: ValueExpression) -> [String] {
      let name = PropertyMapping(name: "name", valueExpression: expression)
      let given = EntityMapping(from: "E", to: "E", attributeMappings: [name])
      return MappingInference(from: source, to: destination, given: [given]).effects.map(\.code)
    }
    #expect(try dropped(ValueExpression(parsing: "lowercase:($source.first)")) == ["valuesDropped E.last in E.last"])
    #expect(try dropped(ValueExpression(parsing: "uppercase:($source.last)")) == ["valuesDropped E.first in E.first"])
    #expect(try dropped(ValueExpression(parsing: "TERNARY($source.last == nil, $source.first, 'x')")).isEmpty)
    #expect(try dropped(ValueExpression(parsing: "FUNCTION($entityPolicy, 'name:', $source)")).isEmpty)
    #expect(MappingInference(from: source, to: destination).effects.count == 3)
  }

  @Test func `links that an expression or a policy makes are not asked about on either side`() throws {
    let source = try model(entity("E"), entity("F"))
    let destination = try model(
      entity("E", relationships: [toMany("fs", "F", inverse: "e")]),
      entity("F", relationships: [toOne("e", "E", inverse: "fs") { $0.isOptional = false }]))
    let links = PropertyMapping(
      name: "fs", valueExpression: .function(operand: .variable("entityPolicy"), selector: "all", arguments: []))
    for given in [
      EntityMapping(from: "E", to: "E", relationshipMappings: [links]),
      EntityMapping(from: "E", to: "E", policyNamed: "P"),
    ] {
      #expect(MappingInference(from: source, to: destination, given: [given]).effects.isEmpty)
    }
    #expect(MappingInference(from: source, to: destination).effects.map(\.code) == ["missingLink F.e in F.nothing"])
  }

  @Test func `effects of a mapping model that was read from elsewhere are the same`() throws {
    let (source, destination) = try Self.folders()
    let inference = MappingInference(from: source, to: destination)
    #expect(try inference.mappingModel().effects(from: source, to: destination) == inference.effects)
    #expect(inference.effects.map(\.code) == ["objectsDropped Old in Old"])
  }
}
