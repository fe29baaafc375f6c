import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

struct ModelSourceReaderTests {
  private func read(_ text: String) throws(ModelReadingError) -> ReadModel {
    try ModelSourceReader.read(Array(text.utf8))
  }

  private func entity(_ content: String, attributes: String = "", more: String = "") throws -> EntityDescription {
    let result = try read("<model><entity name=\"E\" \(attributes)>\(content)</entity>\(more)</model>")
    #expect(result.warnings == [])
    return try #require(result.model.entity(named: "E"))
  }

  private func attribute(_ attributes: String) throws -> AttributeDescription {
    try #require(try entity("<attribute name=\"a\" \(attributes)/>").attributes.first)
  }

  @Test func `reads an entity`() throws {
    let entity = try entity(
      "<userInfo><entry key=\"k\" value=\"v\"/><entry key=\"empty\"/></userInfo>",
      attributes: """
        representedClassName=".Old" isAbstract="YES" syncable="YES" codeGenerationType="class" parentEntity="P" \
        versionHashModifier="2" elementID="Former"
        """,
      more: "<entity name=\"P\" representedClassName=\"NSManagedObject\" elementID=\"P\"/>")
    var expected = Make.entity("E", parent: "P", isAbstract: true)
    expected.managedObjectClassName = ".Old"
    expected.renamingIdentifier = "Former"
    expected.versionHashModifier = "2"
    expected.codeGenerationType = "class"
    expected.userInfo = ["k": "v", "empty": ""]
    #expect(entity == expected)
    let model = try read("<model><entity name=\"P\" elementID=\"P\" representedClassName=\"NSManagedObject\"/></model>")
    #expect(model.model.entity(named: "P") == EntityDescription(name: "P"))
  }

  /// Type, default as text, and the value that it means.
  static let defaults: [(String, String, AttributeValue?)] = [
    ("Integer 16", "0", .integer(0)), ("Integer 32", "-1", .integer(-1)), ("Integer 64", "0.0", .integer(0)),
    ("Integer 64", "9223372036854775807", .integer(.max)), ("Integer 32", "NO", .integer(0)),
    ("Integer 32", "YES", .integer(1)), ("Boolean", "NO", .boolean(false)), ("Boolean", "YES", .boolean(true)),
    ("Boolean", "1", .boolean(true)), ("Boolean", "0", .boolean(false)), ("Boolean", "true", .boolean(true)),
    ("Double", "0", .double(0)), ("Float", "1.5", .double(1.5)),
    ("Decimal", "12345678901234567890.10", .decimal("12345678901234567890.1")),
    ("Decimal", "0.0", .decimal("0")), ("Decimal", "-007", .decimal("-7")), ("String", "", .string("")),
    ("String", "NO", .string("NO")), ("Boolean", "", nil), ("URI", "https://example.com", .uri("https://example.com")),
    (
      "UUID", "00112233-4455-6677-8899-AABBCCDDEEFF",
      .uuid([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF])
    ),
  ]

  @Test(arguments: defaults)
  func `types a default by its attribute`(_ type: String, _ text: String, _ expected: AttributeValue?) throws {
    #expect(try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"").defaultValue == expected)
  }

  @Test(
    arguments: [
      ("Integer 16", "many"), ("Integer 64", "1e30"), ("Boolean", "maybe"), ("Decimal", "1.2.3"), ("Decimal", "."),
      ("Decimal", "1e9999"), ("UUID", "0011"), ("Double", "nan"), ("Date", "yesterday"), ("Binary", "x"),
    ])
  func `warns about a default that doesn't fit`(_ type: String, _ text: String) throws {
    let result = try read(
      "<model><entity name=\"E\"><attribute name=\"a\" attributeType=\"\(type)\" defaultValueString=\"\(text)\"/></entity></model>"
    )
    #expect(result.model.attribute(named: "a", of: "E")?.defaultValue == nil)
    #expect(
      result.warnings == [ModelReadingWarning(.invalidValue(text, of: "defaultValueString"), place: "E.a", line: 1)])
  }

  @Test func `reads the rest of an attribute`() throws {
    let read = try attribute(
      """
      attributeType="Transformable" optional="YES" transient="YES" allowsExternalBinaryDataStorage="YES" \
      allowsCloudEncryption="YES" preserveAfterDeletion="YES" spotlightIndexingEnabled="YES" storedInTruthFile="YES" \
      valueTransformerName="T" customClassName="C" versionHashModifier="m" elementID="old" syncable="YES" \
      usesScalarValueType="NO"
      """)
    var expected = Make.attribute("a", .transformable, external: true, transient: true)
    expected.allowsCloudEncryption = true
    expected.preservesValueInHistoryOnDeletion = true
    expected.isIndexedBySpotlight = true
    expected.isStoredInExternalRecord = true
    expected.valueTransformerName = "T"
    expected.attributeValueClassName = "C"
    expected.versionHashModifier = "m"
    expected.renamingIdentifier = "old"
    expected.usesScalarValueType = false
    #expect(read == expected)
    #expect(try attribute("attributeType=\"String\"") == AttributeDescription(name: "a", type: .string))
    #expect(try attribute("attributeType=\"Date\" defaultDateTimeInterval=\"-3600\"").defaultValue == .date(-3600))
  }

  @Test func `turns limits into validation rules`() throws {
    func rule(
      _ left: ValueExpression, _ comparator: PredicateDescription.Comparator, _ right: AttributeValue, _ code: Int
    ) -> ValidationRule {
      ValidationRule(
        predicate: .comparison(.init(left: left, comparator: comparator, right: .constant(.value(right)))),
        warning: .code(code))
    }
    #expect(
      try attribute("attributeType=\"Integer 16\" minValueString=\"1\" maxValueString=\"5\"").validationRules == [
        rule(.evaluatedObject, .greaterThanOrEqual, .integer(1), 1620),
        rule(.evaluatedObject, .lessThanOrEqual, .integer(5), 1610),
      ])
    #expect(
      try attribute("attributeType=\"String\" minValueString=\"3\" maxValueString=\"9\" regularExpressionString=\"a+\"")
        .validationRules == [
          rule(.keyPath("length"), .greaterThanOrEqual, .integer(3), 1670),
          rule(.keyPath("length"), .lessThanOrEqual, .integer(9), 1660),
          rule(.evaluatedObject, .matches, .string("a+"), 1680),
        ])
    #expect(
      try attribute(
        "attributeType=\"Date\" minDateTimeInterval=\"5\" maxDateTimeInterval=\"6.5\" minValueString=\"12/4/2013\""
      ).validationRules == [
        rule(.evaluatedObject, .greaterThanOrEqual, .date(5), 1640),
        rule(.evaluatedObject, .lessThanOrEqual, .date(6.5), 1630),
      ])
    #expect(
      try attribute("attributeType=\"Decimal\" maxValueString=\"1.50\"").validationRules == [
        rule(.evaluatedObject, .lessThanOrEqual, .decimal("1.5"), 1610)
      ])
  }

  @Test func `reads relationships`() throws {
    let entity = try entity(
      """
      <relationship name="a" toMany="YES" destinationEntity="E" deletionRule="Cascade" ordered="YES" inverseName="b" \
      inverseEntity="E" optional="YES" syncable="YES"/>
      <relationship name="b" maxCount="1" minCount="1" destinationEntity="E" deletionRule="Deny" inverseName="a" \
      inverseEntity="E" elementID="x"/>
      <relationship name="c" toMany="YES" minCount="3" maxCount="9" destinationEntity="E" deletionRule="No Action" transient="YES"/>
      <relationship name="d" destinationEntity="E"/>
      """)
    #expect(entity.relationships.map(\.maxCount) == [0, 1, 9, 1])
    #expect(entity.relationships.map(\.minCount) == [0, 1, 3, 0])
    #expect(entity.relationships.map(\.isToMany) == [true, false, true, false])
    #expect(entity.relationships.map(\.deleteRule) == [.cascade, .deny, .noAction, .nullify])
    #expect(entity.relationships.map(\.inverseRelationship) == ["b", "a", nil, nil])
    #expect(entity.relationships.map(\.isOrdered) == [true, false, false, false])
    #expect(entity.relationships.map(\.isTransient) == [false, false, true, false])
    #expect(entity.relationships.map(\.renamingIdentifier) == [nil, "x", nil, nil])
  }

  @Test func `turns the marks of old models into fetch indexes`() throws {
    let entity = try entity(
      """
      <attribute name="z" attributeType="String" indexed="YES"/><attribute name="a" attributeType="String" indexed="YES"/>
      <attribute name="n" attributeType="String" indexed="NO"/>
      <compoundIndexes><compoundIndex><index value="z"/><index value="n"/></compoundIndex></compoundIndexes>
      <fetchIndex name="a"><fetchIndexElement property="a" type="Binary" order="descending"/></fetchIndex>
      <fetchIndex name="byPlace"><fetchIndexElement property="z" type="RTree" order="ascending"/>\
      <fetchIndexElement expression="canonical:(n)" expressionType="String"/></fetchIndex>
      <uniquenessConstraints><uniquenessConstraint><constraint value="a"/><constraint value="z"/></uniquenessConstraint>\
      <uniquenessConstraint><constraint value="n"/></uniquenessConstraint></uniquenessConstraints>
      """)
    // The explicit index named "a" stands for the mark on "a".
    #expect(entity.indexes.map(\.name) == ["z", "z_n", "a", "byPlace"])
    #expect(entity.indexes[1].elements == [.init(property: "z"), .init(property: "n")])
    #expect(entity.indexes[2].elements == [.init(subject: .property("a"), isAscending: false)])
    #expect(entity.indexes[3].elements[0] == .init(subject: .property("z"), collation: .rTree))
    #expect(entity.uniquenessConstraints == [["a", "z"], ["n"]])
  }

  @Test func `puts composite types into the attributes that use them`() throws {
    let entity = try entity(
      "<attribute name=\"home\" attributeType=\"Composite\" composite=\"Address\"/>",
      more: """
        <composite name="Address"><attribute name="street" attributeType="String"/>\
        <attribute name="place" attributeType="Composite" composite="Point"/></composite>
        <composite name="Point"><attribute name="x" optional="YES" attributeType="Double" defaultValueString="0.5"/></composite>
        """)
    let leaves = entity.attributes.flatMap(\.storedLeaves)
    #expect(leaves.map(\.name) == ["street", "x"])
    #expect(leaves[1].defaultValue == .double(0.5))
    #expect(entity.attributes[0].composite?.name == "Address")
  }

  @Test func `reads what belongs to the whole model`() throws {
    let model = try read(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="v1">
      <entity name="E"><fetchedProperty name="f" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" entity="E"/>
      </fetchedProperty></entity>
      <fetchRequest name="r" entity="E" resultType="2" fetchLimit="5" fetchBatchSize="7" includeSubentities="NO" \
      includePropertyValues="NO" includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
      <configuration name="Cloud"><memberEntity name="E"/></configuration>
      <elements><element name="E" positionX="-63" positionY="-18" width="128" height="44"/></elements>
      </model>
      """)
    #expect(model.warnings == [])
    #expect(model.model.versionIdentifiers == ["v1"])
    #expect(model.model.configurations == [ConfigurationDescription(name: "Cloud", entityNames: ["E"])])
    var request = FetchRequestDescription(name: "r", entityName: "E")
    request.resultType = .dictionaries
    request.fetchLimit = 5
    request.fetchBatchSize = 7
    request.includesSubentities = false
    request.includesPropertyValues = false
    request.includesPendingChanges = false
    request.returnsObjectsAsFaults = false
    request.returnsDistinctResults = true
    #expect(model.model.fetchRequestTemplates == [request])
    #expect(
      model.model.entities[0].fetchedProperties == [
        FetchedPropertyDescription(
          name: "f", fetchRequest: FetchRequestDescription(name: "fetchedPropertyFetchRequest", entityName: "E"))
      ])
    #expect(try read("<model userDefinedModelVersionIdentifier=\"\"/>").model.versionIdentifiers == [""])
  }

  @Test func `names what it doesn't know, with the place`() throws {
    let result = try read(
      """
      <model flavour="sour">
      <entity name="E" colour="red"><attribute name="a" attributeType="String" optional="perhaps"/>
      <gadget/></entity></model>
      """)
    #expect(
      Set(result.warnings) == [
        ModelReadingWarning(.unknownAttribute("flavour"), place: "model", line: 1),
        ModelReadingWarning(.unknownAttribute("colour"), place: "E", line: 2),
        ModelReadingWarning(.invalidValue("perhaps", of: "optional"), place: "E.a", line: 2),
        ModelReadingWarning(.unknownElement("gadget"), place: "E", line: 3),
      ])
  }

  /// The details that an attribute of one type can't keep of others', with the XML attribute that is named.
  static let misfits: [(xml: String, name: String)] = [
    ("attributeType=\"Boolean\" minValueString=\"0\"", "minValueString"),
    ("attributeType=\"Binary\" maxValueString=\"9\"", "maxValueString"),
    ("attributeType=\"Integer 16\" regularExpressionString=\"a+\"", "regularExpressionString"),
    ("attributeType=\"String\" defaultDateTimeInterval=\"5\"", "defaultDateTimeInterval"),
    ("attributeType=\"Double\" minDateTimeInterval=\"5\"", "minDateTimeInterval"),
    ("attributeType=\"Double\" maxDateTimeInterval=\"5\"", "maxDateTimeInterval"),
    ("attributeType=\"Double\" composite=\"Place\"", "composite"),
    ("attributeType=\"Double\" derivationExpression=\"now()\"", "derivationExpression"),
    ("attributeType=\"Double\" defaultValueString=\"many\"", "defaultValueString"),
  ]

  @Test(arguments: misfits)
  func `names what doesn't fit the attribute's type`(_ xml: String, _ name: String) throws {
    let result = try read("<model><entity name=\"E\"><attribute name=\"a\" optional=\"YES\" \(xml)/></entity></model>")
    #expect(result.warnings.count == 1)
    let warning = try #require(result.warnings.first)
    guard case .invalidValue(_, name) = warning.kind else {
      Issue.record("\(warning)")
      return
    }
    #expect(warning.place == "E.a, line 1")
  }

  @Test func `names what a composite type, a relationship or the text of an element says and no model keeps`() throws {
    let result = try read(
      """
      <model>
      <composite name="C" elementID="Old"><attribute name="x" attributeType="Double"/><userInfo/></composite>
      <entity name="E"><attribute name="a" attributeType="Composite" composite="C"/>
      <relationship name="r" maxCount="1" destinationEntity="E" storedInTruthFile="YES"/>stray words</entity></model>
      """)
    #expect(
      Set(result.warnings) == [
        ModelReadingWarning(.unknownAttribute("elementID"), place: "C", line: 2),
        ModelReadingWarning(.invalidValue("YES", of: "storedInTruthFile"), place: "E.r", line: 4),
        ModelReadingWarning(.invalidValue("stray words", of: "entity"), place: "E", line: 3),
      ])
  }

  /// With a word that the error must have.
  static let badDocuments: [(String, String)] = [
    ("", "empty"), (" ", "no element"), ("<", "well-formed"), ("<model>", "truncated"), ("<model", "well-formed"),
    ("model", "well-formed"), ("<model/>junk", "well-formed"), ("<model/><model/>", "well-formed"),
    ("<model><entity name=\"E\"></model>", "well-formed"), ("<plist/>", "<plist>"),
    ("<model a=\"&x;\"/>", "well-formed"),
    ("<!DOCTYPE model [<!ENTITY x \"y\">]><model/>", "entities"), ("<model><entity/></model>", "\"name\""),
    ("<model><?a?></model>", "instruction"), ("<?a?><model/>", "instruction"), ("<model/><?a b?>", "instruction"),
    ("<?xml?><model/>", "instruction"), ("<!DOCTYPE model [<!ELEMENT model ANY>]><model/>", "instruction"),
    ("<?xml version=\"1.0\" encoding=\"UTF-16\"?><model/>", "UTF-8"),
    ("<?xml version='1.0' encoding = 'ISO-8859-1'?><model/>", "UTF-8"), ("<model>\0</model>", "UTF-8"),
    ("<model><entity name=\"E\"/><entity name=\"E\"/></model>", "two entities"),
    ("<model><entity name=\"E\" parentEntity=\"F\"/></model>", "\"F\""),
    ("<model><entity name=\"E\"><attribute name=\"a\" attributeType=\"Colour\"/></entity></model>", "Colour"),
    ("<model><entity name=\"E\"><attribute name=\"a\"/></entity></model>", "no type"),
    ("<model><entity name=\"E\"><relationship name=\"a\"/></entity></model>", "destinationEntity"),
    ("<model><entity name=\"E\"><relationship name=\"a\" destinationEntity=\"F\"/></entity></model>", "\"F\""),
    ("<model><entity name=\"E\"><fetchedProperty name=\"a\"/></entity></model>", "fetch request"),
    ("<model><entity name=\"E\"><attribute name=\"a\" attributeType=\"Composite\"/></entity></model>", "composite"),
    (
      "<model><entity name=\"E\"><attribute name=\"a\" attributeType=\"Composite\" composite=\"C\"/></entity></model>",
      "not described"
    ),
    (
      """
      <model><entity name="E"><attribute name="a" attributeType="Composite" composite="C"/></entity>\
      <composite name="C"><attribute name="b" attributeType="Composite" composite="C"/></composite></model>
      """, "contains itself"
    ),
    ("<model><composite name=\"C\"/><composite name=\"C\"/></model>", "twice"),
    (
      """
      <model><entity name="E"><attribute name="a" attributeType="Composite" composite="C"/></entity>\
      <composite name="C"><attribute name="b" attributeType="Double"/><relationship name="owner"/></composite></model>
      """, "\"C\" contains <relationship> \"owner\""
    ),
    (
      """
      <model><entity name="E"><attribute name="a" attributeType="Composite" composite="C"/></entity>\
      <composite name="C"><attribute name="b" attributeType="Double"/><element/></composite></model>
      """, "\"C\" contains <element>"
    ),
    (
      """
      <model><entity name="E"><attribute name="a" attributeType="Composite" composite="C"/></entity>\
      <composite name="C"><attribute name="b" attributeType="Colour"/></composite></model>
      """, "\"E.a.b\" has the unknown type \"Colour\""
    ),
    (
      """
      <model><entity name="E"><attribute name="a" attributeType="Composite" composite="C"/></entity>\
      <composite name="C"><attribute name="b" attributeType="Composite" composite="D"/></composite>\
      <composite name="D"><attribute name="x" attributeType="Double"/><attribute name="x" attributeType="Float"/></composite>\
      </model>
      """, "\"E.a.b\" has the element \"x\" twice"
    ),
    (
      """
      <model><entity name="E"><attribute name="a" attributeType="Composite" composite="C"/></entity>\
      <composite name="C"/></model>
      """, "must have elements"
    ),
    (
      """
      <model><entity name="E"><attribute name="a" attributeType="Composite" composite="C"/></entity>\
      <composite name="C"><attribute name="b"/></composite></model>
      """, "\"E.a.b\" is stored but has no type"
    ),
    (
      "<model><entity name=\"E\"><fetchIndex name=\"i\"><fetchIndexElement property=\"x\"/></fetchIndex></entity></model>",
      "index"
    ),
    ("<model><configuration name=\"c\"><memberEntity name=\"E\"/></configuration></model>", "configuration"),
    (String(repeating: "<model>", count: 200), "levels"),
  ]

  @Test(arguments: badDocuments)
  func `refuses a bad document and says why`(_ text: String, _ word: String) throws {
    let error = try #require(throws: ModelReadingError.self) { try read(text) }
    #expect(error.description.contains(word), "\(error)")
    #expect(error.recoverySuggestion != nil)
  }

  @Test(
    arguments: [
      "<!-- a model --><model/>", "<!DOCTYPE model><model/>", "<!DOCTYPE model SYSTEM \"file:///nothing\"><model/>",
      "<?xml version=\"1.0\"?>\n<model><![CDATA[x]]></model>\n<!-- end -->", "\u{FEFF}<?xml version=\"1.0\"?><model/>",
    ])
  func `accepts what does no harm`(_ text: String) throws {
    #expect(try read(text).model.entities.isEmpty)
  }

  @Test func `refuses composites that multiply`() throws {
    // Ten levels of ten elements each would make ten thousand million leaves.
    let levels = (0..<10).map { level in
      let attributes = (0..<10).map {
        "<attribute name=\"a\($0)\" attributeType=\"Composite\" composite=\"C\(level + 1)\"/>"
      }
      return "<composite name=\"C\(level)\">\(attributes.joined())</composite>"
    }
    let text = """
      <model><entity name="E"><attribute name="a" attributeType="Composite" composite="C0"/></entity>\(levels.joined())\
      <composite name="C10"><attribute name="x" attributeType="String"/></composite></model>
      """
    let error = try #require(throws: ModelReadingError.self) { try read(text) }
    #expect(error.description.contains("too many elements"))
  }

  @Test func `refuses each truncation`() throws {
    let text = Array("<?xml version=\"1.0\"?><model><entity name=\"E\"><userInfo/></entity></model>".utf8)
    for length in 0..<text.count {
      #expect(throws: ModelReadingError.self) { try ModelSourceReader.read(Array(text[..<length])) }
    }
    #expect(try ModelSourceReader.read(text).model.entities.count == 1)
  }
}
