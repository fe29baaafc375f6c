import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

struct PropertyMappingTests {
  @Test func `an inferred copy is recognised and names the source attribute`() {
    let mapping = PropertyMapping(name: "title", copying: "name")
    #expect(mapping.form == .attribute("name"))
    #expect(
      mapping.valueExpression
        == .function(
          operand: .variable("source"), selector: "valueForKey:", arguments: [.constant(.value(.string("name")))]))
  }

  @Test func `a key path of one key on the source is a copy, as compiled mapping models write it`() {
    let mapping = PropertyMapping(
      name: "title", valueExpression: .keyPath(operand: .variable("source"), path: "name"))
    #expect(mapping.form == .attribute("name"))
  }

  @Test func `inferred links are recognised`() {
    #expect(PropertyMapping(name: "owner", linksOf: "person").form == .links(relationship: "person"))
  }

  @Test func `links through an entity mapping are recognised`() {
    let expression = ValueExpression.function(
      operand: .variable("manager"), selector: ValueExpression.entityMappingSelector,
      arguments: [
        .constant(.value(.string("PersonToPerson"))), .keyPath(operand: .variable("source"), path: "owner"),
      ])
    #expect(
      PropertyMapping(name: "owner", valueExpression: expression).form
        == .linksThroughMapping(entityMapping: "PersonToPerson", relationship: "owner"))
  }

  @Test func `a value for all rows, and one for rows without, are recognised`() {
    #expect(
      PropertyMapping(name: "x", valueExpression: .constant(.value(.integer(7)))).form == .constant(.integer(7)))
    #expect(PropertyMapping(name: "x", valueExpression: .constant(.null)).form == .constant(nil))
    let filled = ValueExpression.conditional(
      predicate: .comparison(
        .init(left: .sourceValue(forKey: "a"), comparator: .equal, right: .constant(.null))),
      then: .constant(.value(.integer(1))), otherwise: .sourceValue(forKey: "a"))
    #expect(PropertyMapping(name: "x", valueExpression: filled).form == .filledAttribute("a", .integer(1)))
  }

  @Test func `no expression leaves the default`() {
    #expect(PropertyMapping(name: "title").form == .defaultValue)
  }

  @Test(arguments: [
    ValueExpression.keyPath(operand: .variable("source"), path: "author.name"),
    .keyPath(operand: .variable("source"), path: "items.@count"),
    .keyPath(operand: .variable("destination"), path: "name"),
    .keyPath(operand: .evaluatedObject, path: "name"),
    .function(operand: .variable("source"), selector: "valueForKeyPath:", arguments: [.constant(.null)]),
    .function(operand: .variable("source"), selector: "valueForKey:", arguments: []),
    .function(
      operand: .variable("manager"), selector: ValueExpression.relationshipSelector,
      arguments: [.constant(.value(.string("a"))), .keyPath(operand: .variable("source"), path: "b")]),
    .constant(.array([])),
    .conditional(
      predicate: .comparison(
        .init(left: .sourceValue(forKey: "a"), comparator: .equal, right: .constant(.null))),
      then: .constant(.value(.integer(1))), otherwise: .sourceValue(forKey: "b")),
    .unparsed("$source.name"),
  ])
  func `anything else is left to evaluation`(expression: ValueExpression) {
    #expect(PropertyMapping(name: "x", valueExpression: expression).form == .expression(expression))
  }

  @Test func `the source rows of a mapping can be read back from their expression`() throws {
    let rows = try #require(ValueExpression.sourceRows(ofEntity: "Car", predicate: "year > 2000").sourceRows)
    #expect(rows == ("Car", "year > 2000"))
    #expect(ValueExpression.variable("source").sourceRows == nil)
  }
}

struct EntityMappingTests {
  @Test func `a mapping without a name is named after its entities`() {
    #expect(EntityMapping(from: "Note", to: "Page").name == "Note->Page")
    #expect(EntityMapping(from: nil, to: "Page").name == "Page")
    #expect(EntityMapping(from: "Note", to: nil).name == "Note")
    #expect(EntityMapping(from: "Note", to: "Page", name: "NoteToPage").name == "NoteToPage")
  }

  @Test func `a policy makes a mapping custom unless its type is given`() {
    #expect(EntityMapping(from: "A", to: "B", policyNamed: "P").mappingType == .custom)
    #expect(EntityMapping(from: "A", to: "B", mappingType: .transform, policyNamed: "P").mappingType == .transform)
    #expect(EntityMapping(from: "A", to: "B").mappingType == .undefined)
  }

  @Test func `mapping types have the codes of compiled mapping models`() {
    #expect(EntityMapping.MappingType.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    #expect(
      EntityMapping.MappingType.allCases.map(\.name) == ["undefined", "custom", "add", "remove", "copy", "transform"])
  }

  @Test func `a mapping model finds its mappings by name, source and destination`() {
    let model = MappingModel(entityMappings: [
      EntityMapping(from: "A", to: "B", policyNamed: "Q"), EntityMapping(from: "A", to: "C", policyNamed: "P"),
      EntityMapping(from: "D", to: "C", policyNamed: "P"),
    ])
    #expect(model.entityMapping(named: "A->C")?.destinationEntityName == "C")
    #expect(model.entityMapping(named: "A->D") == nil)
    #expect(model.entityMappings(fromEntity: "A").map(\.name) == ["A->B", "A->C"])
    #expect(model.entityMappings(toEntity: "C").map(\.name) == ["A->C", "D->C"])
    #expect(model.policyNames == ["P", "Q"])
  }

  @Test func `a way over several types is read back from its expression`() throws {
    func model(_ types: [AttributeType]) throws -> [ManagedObjectModel] {
      try types.map { type in
        let entity = Make.entity("A", [AttributeDescription(name: "x", type: type)])
        return try ManagedObjectModel(entities: [entity])
      }
    }
    func form(_ types: AttributeType...) throws -> PropertyMapping.Form? {
      let inference = try #require(MappingInference(through: model(types)))
      return try inference.mappingModel().entityMappings.first?.attributeMapping(named: "x")?.form
    }
    #expect(
      try form(.double, .integer16, .double) == .steppedAttribute("x", [.converted(.integer16), .converted(.double)]))
    #expect(
      try form(.boolean, .integer16, .double) == .steppedAttribute("x", [.converted(.integer16), .converted(.double)]))
    // A conversion that also works directly needs no steps.
    #expect(try form(.integer16, .integer32, .integer64) == .attribute("x"))
    #expect(try form(.double, .integer32, .integer16) == .attribute("x"))
    let strange = ValueExpression.function(
      operand: nil, selector: "convert:throughSteps:",
      arguments: [.sourceValue(forKey: "x"), .aggregate([.constant(.value(.integer(.max)))])])
    #expect(PropertyMapping(name: "x", valueExpression: strange).form == .expression(strange))
  }
}
