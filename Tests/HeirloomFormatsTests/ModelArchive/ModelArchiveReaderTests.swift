import HeirloomFormats
import HeirloomModel
import Testing

struct ModelArchiveReaderTests {
  /// One entity `E` has the properties that `make` gives.
  private func read(
    _ make: (inout ArchiveBuilder, _ entity: PropertyListValue) -> [(String, PropertyListValue)]
  ) throws -> ReadModel {
    var builder = ArchiveBuilder()
    let name = builder.string("E")
    let entity = builder.object("NSEntityDescription", ["NSEntityName": name])
    let properties = make(&builder, entity)
    let dictionary = builder.dictionary(properties)
    builder.set("NSProperties", of: entity, to: dictionary)
    let entities = builder.dictionary([("E", entity)])
    let root = builder.object("NSManagedObjectModel", ["NSEntities": entities])
    return try ModelArchiveReader.read(builder.bytes(root: root))
  }

  private func attribute(
    type: Int, _ make: (inout ArchiveBuilder) -> [String: PropertyListValue]
  ) throws -> (attribute: AttributeDescription?, warnings: [ModelReadingWarning]) {
    let result = try read { builder, _ in
      let name = builder.string("a")
      var members = make(&builder)
      members["NSPropertyName"] = name
      members["NSAttributeType"] = .integer(Int64(type))
      return [("a", builder.object("NSAttributeDescription", members))]
    }
    return (result.model.attribute(named: "a", of: "E"), result.warnings)
  }

  /// Attribute type, archived default, and the value that it means.
  static let defaults: [(Int, PropertyListValue, AttributeValue?)] = [
    (100, .integer(5), .integer(5)), (300, .boolean(true), .integer(1)), (300, .real(2.9), .integer(2)),
    (500, .integer(0), .double(0)), (600, .real(1.5), .double(1.5)), (800, .integer(1), .boolean(true)),
    (800, .boolean(false), .boolean(false)), (400, .integer(7), .decimal("7")), (400, .real(0.5), .decimal("0.5")),
    (700, .string("x"), .string("x")), (1000, .data([1]), .binary([1])), (1800, .data([2]), .binary([2])),
    (700, .integer(5), nil), (900, .string("x"), nil), (500, .real(.nan), nil), (1100, .data([1, 2]), nil),
  ]

  @Test(arguments: defaults)
  func `types a default by its attribute`(_ type: Int, _ archived: PropertyListValue, _ expected: AttributeValue?)
    throws
  {
    let result = try attribute(type: type) { ["NSDefaultValue": $0.add(archived)] }
    #expect(result.attribute?.defaultValue == expected)
    #expect(result.warnings.isEmpty == (expected != nil))
  }

  @Test func `reads defaults that are objects`() throws {
    let date = try attribute(type: 900) { ["NSDefaultValue": $0.object("NSDate", ["NS.time": .real(-5)])] }
    #expect(date.attribute?.defaultValue == .date(-5))
    let text = try attribute(type: 700) {
      ["NSDefaultValue": $0.object("NSMutableString", ancestors: ["NSString"], ["NS.string": .string("m")])]
    }
    #expect(text.attribute?.defaultValue == .string("m"))
    let uuid = try attribute(type: 1100) {
      ["NSDefaultValue": $0.object("NSUUID", ["NS.uuidbytes": .data(Array(0..<16))])]
    }
    #expect(uuid.attribute?.defaultValue == .uuid(Array(0..<16)))
    let url = try attribute(type: 1200) {
      let text = $0.string("https://example.com")
      return ["NSDefaultValue": $0.object("NSURL", ["NS.base": ArchiveBuilder.null, "NS.relative": text])]
    }
    #expect(url.attribute?.defaultValue == .uri("https://example.com"))
    let unknown = try attribute(type: 1800) { ["NSDefaultValue": $0.object("Cover")] }
    #expect(unknown.attribute?.defaultValue == nil)
    #expect(unknown.warnings == [ModelReadingWarning(.invalidValue("Cover", of: "NSDefaultValue"), place: "E.a")])
  }

  /// Mantissa as little-endian units, exponent, sign, and the text of the number.
  static let decimals: [([UInt8], Int, Bool, String)] = [
    ([], 0, false, "0"), ([5], 0, false, "5"), ([0xD2, 0x04], -2, true, "-12.34"), ([1], -5, false, "0.00001"),
    ([1], 3, false, "1000"), ([0, 0, 1], 0, false, "65536"), ([0x78], -1, false, "12"),
  ]

  @Test(arguments: decimals)
  func `reads archived decimal numbers`(_ digits: [UInt8], _ exponent: Int, _ isNegative: Bool, _ text: String) throws {
    let result = try attribute(type: 400) { builder in
      let mantissa = digits + Array(repeating: 0, count: 16 - digits.count)
      let number = builder.object(
        "NSDecimalNumberPlaceholder", ancestors: ["NSDecimalNumber", "NSNumber"],
        [
          "NS.mantissa": .data(mantissa), "NS.mantissa.bo": .integer(1), "NS.exponent": .integer(Int64(exponent)),
          "NS.length": .integer(Int64((digits.count + 1) / 2)), "NS.negative": .boolean(isNegative),
          "NS.compact": .boolean(true),
        ])
      return ["NSDefaultValue": number]
    }
    #expect(result.attribute?.defaultValue == .decimal(text))
  }

  @Test func `reads dictionaries of known keys and leaves out empty slots`() throws {
    var builder = ArchiveBuilder()
    let name = builder.string("E")
    let entity = builder.object("NSEntityDescription", ["NSEntityName": name])
    let keys = [name, builder.string("F")]
    let empty = builder.string("__empty_slot_token_4c24_98dc_ac1e_b773__")
    let keyList = builder.array(keys)
    let valueList = builder.array([entity, empty])
    let mapping = builder.object("NSKnownKeysMappingStrategy1", ["keys": keyList, "length": .integer(2)])
    let entities = builder.object(
      "NSKnownKeysDictionary1", ["searchMapping": mapping, "values": valueList, "emptyToken": empty])
    let root = builder.object("NSManagedObjectModel", ["NSEntities": entities])
    let result = try ModelArchiveReader.read(builder.bytes(root: root))
    #expect(result.model.entities == [EntityDescription(name: "E")])
    #expect(result.warnings == [])
  }

  @Test func `reads an inherited property once`() throws {
    var builder = ArchiveBuilder()
    func attribute(_ builder: inout ArchiveBuilder, type: Int64, of entity: PropertyListValue) -> PropertyListValue {
      let name = builder.string("a")
      return builder.object(
        "NSAttributeDescription",
        ["NSPropertyName": name, "NSAttributeType": .integer(type), "NSEntity": entity, "NSIsIndexed": .boolean(true)])
    }
    var entities: [(String, PropertyListValue)] = []
    for (name, parent) in [("A", nil), ("Copy", 0), ("Proxy", 0), ("Differing", 0)] as [(String, Int?)] {
      let text = builder.string(name)
      let entity = builder.object(
        "NSEntityDescription",
        ["NSEntityName": text, "NSSuperentity": parent.map { entities[$0].1 } ?? ArchiveBuilder.null])
      var property = attribute(&builder, type: name == "Differing" ? 100 : 700, of: entity)
      if name == "Proxy" {
        property = attribute(&builder, type: 700, of: entities[0].1)
        property = builder.object("_NSPropertyDescriptionProxy", ["NSUnderlyingProperty": property])
      }
      let properties = builder.dictionary([("a", property)])
      builder.set("NSProperties", of: entity, to: properties)
      entities.append((name, entity))
    }
    let dictionary = builder.dictionary(entities)
    let root = builder.object("NSManagedObjectModel", ["NSEntities": dictionary])
    let result = try ModelArchiveReader.read(builder.bytes(root: root))
    #expect(result.model.entities.map { $0.attributes.map(\.name) } == [["a"], [], [], []])
    #expect(result.model.entities.map { $0.indexes.map(\.name) } == [["a"], [], [], []])
    #expect(result.warnings == [ModelReadingWarning(.differingCopy(of: "A"), place: "Differing.a")])
  }

  @Test func `reads expressions and predicates as values`() throws {
    let result = try read { builder, _ in
      let own = builder.object("NSSelfExpression", ["NSExpressionType": .integer(1)])
      let name = builder.string("name")
      let specifier = builder.object("NSKeyPathSpecifierExpression", ["NSKeyPath": name])
      let arguments = builder.array([specifier])
      let path = builder.object("NSKeyPathExpression", ["NSOperand": own, "NSArguments": arguments])
      let text = builder.string("a")
      let constant = builder.object("NSConstantValueExpression", ["NSConstantValue": text])
      let contains = builder.object(
        "NSInPredicateOperator", ["NSOperatorType": .integer(99), "NSFlags": .integer(3), "NSModifier": .integer(2)])
      let comparison = builder.object(
        "NSComparisonPredicate",
        ["NSLeftExpression": path, "NSRightExpression": constant, "NSPredicateOperator": contains])
      let parts = builder.array([comparison])
      let compound = builder.object(
        "NSCompoundPredicate", ["NSCompoundPredicateType": .integer(0), "NSSubpredicates": parts])
      let utilities = builder.string("_NSPredicateUtilities")
      let receiver = builder.object("NSConstantValueExpression", ["NSConstantValueClassName": utilities])
      let selector = builder.string("count:")
      let functionArguments = builder.array([path])
      let function = builder.object(
        "NSFunctionExpression",
        ["NSOperand": receiver, "NSSelectorName": selector, "NSArguments": functionArguments])
      let attributeName = builder.string("a")
      return [
        (
          "a",
          builder.object(
            "NSDerivedAttributeDescription", ancestors: ["NSAttributeDescription"],
            [
              "NSPropertyName": attributeName, "NSAttributeType": .integer(300), "NSDerivationExpression": function,
              "NSFilteringPredicate": compound,
            ])
        )
      ]
    }
    #expect(result.warnings == [])
    let derivation = try #require(result.model.attribute(named: "a", of: "E")?.derivation)
    #expect(
      derivation.derivationExpression == .function(operand: nil, selector: "count:", arguments: [.keyPath("name")]))
    #expect(
      derivation.filteringPredicate
        == .not(
          .comparison(
            .init(
              left: .keyPath("name"), comparator: .contains, right: .constant(.value(.string("a"))), modifier: .any,
              isCaseInsensitive: true, isDiacriticInsensitive: true))))
  }

  @Test func `names what it doesn't know, with the place`() throws {
    let result = try attribute(type: 700) {
      [
        "NSFlavour": .integer(1), "NSFlagsKey": .integer(0x24),
        "NSUserInfo": $0.dictionary([("k", $0.object("Gadget"))]),
      ]
    }
    #expect(result.attribute?.allowsExternalBinaryDataStorage == true)
    #expect(
      Set(result.warnings) == [
        ModelReadingWarning(.unknownKey("NSFlavour"), place: "E.a"),
        ModelReadingWarning(.invalidValue("32", of: "NSFlagsKey"), place: "E.a"),
        ModelReadingWarning(.unknownKey("k"), place: "the user info of E.a"),
      ])
  }

  @Test func `names unknown keys, classes and bits wherever they stand`() throws {
    var builder = ArchiveBuilder()
    let name = builder.string("a")
    let one = builder.object(
      "NSConstantValueExpression", ["NSConstantValue": builder.add(.integer(1)), "NSShade": .integer(1)])
    let own = builder.object("NSSelfExpression", ["NSExpressionType": .integer(1)])
    let operation = builder.object(
      "NSEqualityPredicateOperator", ["NSOperatorType": .integer(4), "NSLocale": .integer(1)])
    let predicate = builder.object(
      "NSComparisonPredicate",
      ["NSLeftExpression": own, "NSRightExpression": one, "NSPredicateOperator": operation, "NSMood": .integer(1)])
    let attribute = builder.object(
      "NSFancyAttributeDescription", ancestors: ["NSAttributeDescription", "NSPropertyDescription"],
      [
        "NSPropertyName": name, "NSAttributeType": .integer(300), "_P": .integer(0x10F1),
        "NSValidationPredicates": builder.array([predicate]),
        "NSValidationWarnings": builder.array([builder.object("Gadget")]),
      ])
    let element = builder.object(
      "NSFetchIndexElementDescription",
      ["NSPropertyName": name, "NSAscending": .boolean(true), "NSTilt": .integer(1)])
    let index = builder.object(
      "NSFetchIndexDescription",
      ["NSIndexName": builder.string("byA"), "NSIndexElements": builder.array([element])])
    let entity = builder.object(
      "NSFancyEntityDescription", ancestors: ["NSEntityDescription"],
      [
        "NSEntityName": builder.string("E"), "NSProperties": builder.dictionary([("a", attribute)]),
        "NSFetchIndexDescriptions": builder.array([index]), "NSGlow": .integer(1),
      ])
    let sorting = builder.object(
      "NSSortDescriptor",
      [
        "NSKey": name, "NSAscending": .boolean(true), "NSSelector": builder.string("localizedCompare:"),
        "NSReverseNullOrder": .boolean(true), "NSHum": .integer(1),
      ])
    let request = builder.object(
      "NSFetchRequest",
      [
        "NSEntity": entity, "NSSortDescriptors": builder.array([sorting, builder.object("Gadget")]),
        "NSFetchRequestFlags": .integer(0x5E), "NSWhim": .integer(1),
      ])
    let root = builder.object(
      "NSManagedObjectModel",
      [
        "NSEntities": builder.dictionary([("E", entity)]), "NSTaste": .integer(1),
        "NSVersionIdentifiers": builder.object("NSSet", ["NS.objects": .array([builder.object("Gadget")])]),
        "NSConfigurations": builder.dictionary([("C", builder.array([builder.object("Gadget")]))]),
        "NSFetchRequestTemplates": builder.dictionary([("all", request)]),
      ])
    let result = try ModelArchiveReader.read(builder.bytes(root: root))
    #expect(result.model.attribute(named: "a", of: "E")?.type == .integer64)
    #expect(
      Set(result.warnings) == [
        ModelReadingWarning(.unknownKey("NSTaste"), place: "model"),
        ModelReadingWarning(.unknownClass("NSFancyEntityDescription"), place: "E"),
        ModelReadingWarning(.unknownKey("NSGlow"), place: "E"),
        ModelReadingWarning(.unknownClass("NSFancyAttributeDescription"), place: "E"),
        ModelReadingWarning(.invalidValue("4096", of: "_P"), place: "a"),
        ModelReadingWarning(.unknownKey("NSMood"), place: "E.a"),
        ModelReadingWarning(.unknownKey("NSLocale"), place: "E.a"),
        ModelReadingWarning(.unknownKey("NSShade"), place: "E.a"),
        ModelReadingWarning(
          .invalidValue("a value that is neither text nor code", of: "NSValidationWarnings"), place: "E.a"),
        ModelReadingWarning(.unknownKey("NSTilt"), place: "E, index byA"),
        ModelReadingWarning(.invalidValue("a value that is not text", of: "NSVersionIdentifiers"), place: "model"),
        ModelReadingWarning(.invalidValue("a value that is not an entity", of: "NSConfigurations"), place: "C"),
        ModelReadingWarning(.unknownKey("NSWhim"), place: "all"),
        ModelReadingWarning(.unknownKey("NSHum"), place: "all"),
        ModelReadingWarning(.invalidValue("localizedCompare:", of: "NSSelector"), place: "all"),
        ModelReadingWarning(.invalidValue("YES", of: "NSReverseNullOrder"), place: "all"),
        ModelReadingWarning(.invalidValue("a value without a key", of: "NSSortDescriptors"), place: "all"),
        ModelReadingWarning(.invalidValue("64", of: "NSFetchRequestFlags"), place: "all"),
      ])
  }

  // MARK: - Bad input

  @Test func `refuses what is no archive of a model`() throws {
    #expect(throws: ModelReadingError(problem: .notModel(.emptyFile))) { try ModelArchiveReader.read([]) }
    #expect(throws: ModelReadingError.self) { try ModelArchiveReader.read(Array("bplist00".utf8)) }
    let plist = try BinaryPropertyListWriter.bytes(of: .dictionary(["a": .integer(1)]))
    #expect(throws: ModelReadingError(problem: .notModel(.otherPropertyList))) { try ModelArchiveReader.read(plist) }
    var builder = ArchiveBuilder()
    let other = builder.object("NSArray", ["NS.objects": .array([])])
    #expect(throws: ModelReadingError(problem: .notModel(.otherPropertyList))) {
      try ModelArchiveReader.read(builder.bytes(root: other))
    }
    let mapping = builder.object("NSMappingModel")
    #expect(throws: ModelReadingError(problem: .notModel(.mappingModel))) {
      try ModelArchiveReader.read(builder.bytes(root: mapping))
    }
    #expect(throws: ModelReadingError.self) { try ModelArchiveReader.read(builder.bytes(root: .uid(99))) }
    #expect(throws: ModelReadingError.self) { try ModelArchiveReader.read(builder.bytes(root: ArchiveBuilder.null)) }
    #expect(throws: ModelReadingError.self) { try ModelArchiveReader.readCache(Array("no stream".utf8)) }
  }

  @Test func `refuses a property of an unknown class, for it may have a column`() throws {
    let error = try #require(throws: ModelReadingError.self) {
      try read { builder, _ in [("p", builder.object("NSPropertyOfTheFuture"))] }
    }
    #expect(error.description.contains("NSPropertyOfTheFuture"))
  }

  @Test func `refuses attributes of unknown types and relationships that lead nowhere`() throws {
    #expect(throws: ModelReadingError.self) { try attribute(type: 4242) { _ in [:] } }
    #expect(throws: ModelReadingError.self) {
      try read { builder, _ in
        let name = builder.string("r")
        return [("r", builder.object("NSRelationshipDescription", ["NSPropertyName": name]))]
      }
    }
    #expect(throws: ModelReadingError.self) {
      try read { builder, _ in [("a", builder.object("NSAttributeDescription"))] }
    }
  }

  @Test func `refuses a composite that holds itself`() throws {
    let error = try #require(throws: ModelReadingError.self) {
      try read { builder, _ in
        let name = builder.string("c")
        let composite = builder.object(
          "NSCompositeAttributeDescription", ancestors: ["NSAttributeDescription"],
          ["NSPropertyName": name, "NSAttributeType": .integer(2100)])
        let elements = builder.array([composite, composite])
        builder.set("NSCompositeElements", of: composite, to: elements)
        return [("c", composite)]
      }
    }
    #expect(error.description.contains("steps") || error.description.contains("nested"))
  }

  @Test(
    arguments: [
      ("NSRelationshipDescription", "x", "NSRelationshipDescription"), ("NSAttributeDescription", "a", "\"a\" twice"),
      ("NSNothing", "x", "NSNothing"),
    ])
  func `refuses a composite that holds what is no element, or one twice`(
    className: String, name: String, word: String
  ) throws {
    let error = try #require(throws: ModelReadingError.self) {
      try read { builder, _ in
        let first = builder.string("a")
        let second = builder.string(name)
        let element = builder.object(
          "NSAttributeDescription", ["NSPropertyName": first, "NSAttributeType": .integer(700)])
        let other = builder.object(className, ["NSPropertyName": second, "NSAttributeType": .integer(500)])
        let elements = builder.array([element, other])
        let title = builder.string("c")
        return [
          (
            "c",
            builder.object(
              "NSCompositeAttributeDescription", ancestors: ["NSAttributeDescription"],
              ["NSPropertyName": title, "NSAttributeType": .integer(2100), "NSCompositeElements": elements])
          )
        ]
      }
    }
    #expect(error.description.contains(word) && error.description.contains(".c\""), "\(error)")
  }

  @Test func `refuses an expression that holds itself`() throws {
    let error = try #require(throws: ModelReadingError.self) {
      try read { builder, _ in
        let name = builder.string("a")
        let selector = builder.string("add:to:")
        let function = builder.object("NSFunctionExpression", ["NSSelectorName": selector])
        let arguments = builder.array([function, function])
        builder.set("NSArguments", of: function, to: arguments)
        return [
          (
            "a",
            builder.object(
              "NSDerivedAttributeDescription", ancestors: ["NSAttributeDescription"],
              ["NSPropertyName": name, "NSAttributeType": .integer(300), "NSDerivationExpression": function])
          )
        ]
      }
    }
    #expect(error.description.contains("steps") || error.description.contains("nested"))
  }

  @Test func `refuses many entities that share many properties`() throws {
    var builder = ArchiveBuilder()
    let name = builder.string("a")
    let attributes = (0..<1000).map { index in
      (
        "a\(index)",
        builder.object("NSAttributeDescription", ["NSPropertyName": name, "NSAttributeType": .integer(700)])
      )
    }
    let properties = builder.dictionary(attributes)
    let entities = (0..<1000).map { index in
      let name = builder.string("E\(index)")
      return ("E\(index)", builder.object("NSEntityDescription", ["NSEntityName": name, "NSProperties": properties]))
    }
    let dictionary = builder.dictionary(entities)
    let root = builder.object("NSManagedObjectModel", ["NSEntities": dictionary])
    let error = try #require(throws: ModelReadingError.self) { try ModelArchiveReader.read(builder.bytes(root: root)) }
    #expect(error.description.contains("steps"))
  }

  @Test func `refuses endless chains of ancestors`() throws {
    var builder = ArchiveBuilder()
    var entities: [(String, PropertyListValue)] = []
    for index in 0..<200 {
      let name = builder.string("E\(index)")
      let parent = entities.last?.1 ?? ArchiveBuilder.null
      entities.append(
        ("E\(index)", builder.object("NSEntityDescription", ["NSEntityName": name, "NSSuperentity": parent])))
    }
    let dictionary = builder.dictionary(entities)
    let root = builder.object("NSManagedObjectModel", ["NSEntities": dictionary])
    let error = try #require(throws: ModelReadingError.self) { try ModelArchiveReader.read(builder.bytes(root: root)) }
    #expect(error.description.contains("ancestors"))
  }
}
