import Foundation
import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

struct MappingReaderTests {
  // MARK: - Sources

  private static func document(_ objects: String) -> [UInt8] {
    Array(
      """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
      <database><databaseInfo><version>134481920</version></databaseInfo>\(objects)</database>
      """.utf8)
  }

  private static func model(_ ids: String) -> String {
    """
    <object type="XDDEVMAPPINGMODEL" id="z1"><attribute name="sourcemodelpath" type="string">A/M.xcdatamodeld/M 1.xcdatamodel</attribute>
    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="\(ids)"></relationship></object>
    """
  }

  private static func object(_ type: String, _ id: String, _ values: [String: String], links: String = "") -> String {
    let attributes = values.sorted { $0.key < $1.key }
      .map { "<attribute name=\"\($0.key)\" type=\"string\">\($0.value)</attribute>" }.joined()
    return "<object type=\"\(type)\" id=\"\(id)\">\(attributes)\(links)</object>"
  }

  private static func link(_ name: String, _ ids: String) -> String {
    "<relationship name=\"\(name)\" type=\"0/0\" idrefs=\"\(ids)\"></relationship>"
  }

  private func mapping(_ values: [String: String], relationship: [String: String]? = nil) throws -> EntityMapping {
    let links = relationship == nil ? "" : Self.link("relationshipmappings", "z3")
    let object = Self.object("XDDEVENTITYMAPPING", "z2", values, links: links)
    let property = relationship.map { Self.object("XDDEVRELATIONSHIPMAPPING", "z3", $0) } ?? ""
    let read = try MappingModelFile.read(Self.document(Self.model("z2") + object + property)).read
    #expect(read.warnings == [])
    #expect(read.sourceModelName == "M 1")
    return try #require(read.mappingModel.entityMappings.first)
  }

  @Test func `names entity mappings as Xcode does`() throws {
    #expect(try mapping(["sourcename": "A", "destinationname": "B"]).name == "AToB")
    #expect(try mapping(["destinationname": "B"]).name == "B")
    #expect(try mapping(["sourcename": "A"]).name == "A")
    #expect(try mapping(["sourcename": "A", "destinationname": "B", "name": "own"]).name == "own")
  }

  @Test func `reads types, policies and the condition on rows`() throws {
    let typed = try mapping(["sourcename": "A", "destinationname": "B", "mappingtypename": "Transform"])
    #expect(typed.mappingType == .transform)
    let custom = try mapping(["sourcename": "A", "destinationname": "B", "migrationpolicyclassname": "M.P"])
    #expect(custom.mappingType == .custom)
    #expect(custom.entityMigrationPolicyClassName == "M.P")
    let plain = try mapping(["sourcename": "A", "destinationname": "B", "migrationpolicyclassname": ""])
    #expect(plain.entityMigrationPolicyClassName == nil)
    let some = try mapping(["sourcename": "A", "destinationname": "B", "sourcefilterpredicatestring": "n &gt; 5"])
    #expect(some.sourceExpression?.sourceRows?.predicate == "n > 5")
  }

  static let links: [(path: String?, mapping: String?, expected: String)] = [
    (
      "$source.a.b", "AToA",
      #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "AToA", $source.a.b)"#
    ),
    (
      nil, "AToA",
      #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "AToA", $source.r)"#
    ),
    (
      "$source.a", nil,
      #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "a", $source.a)"#
    ),
  ]

  @Test(arguments: links)
  func `makes expressions of a relationship's key path and mapping name`(
    _ path: String?, _ name: String?, _ expected: String
  ) throws {
    var values = ["name": "r"]
    values["sourcekeypath"] = path
    values["sourcemappingname"] = name
    let mapping = try mapping(["sourcename": "A", "destinationname": "B"], relationship: values)
    #expect(mapping.relationshipMappings.map(\.valueExpression?.predicateFormat) == [expected])
  }

  @Test func `keeps the order that numbers give, and the file's where they are equal`() throws {
    let objects = ["z2": ("c", 2), "z3": ("a", 1), "z4": ("b", 2)].sorted { $0.key < $1.key }.map { id, value in
      Self.object(
        "XDDEVENTITYMAPPING", id, ["name": value.0, "sourcename": "S", "mappingnumber": String(value.1)])
    }
    let read = try MappingModelFile.read(Self.document(Self.model("z4 z3 z2") + objects.joined())).read
    #expect(read.mappingModel.entityMappings.map(\.name) == ["a", "b", "c"])
  }

  @Test func `reads user info and source expressions`() throws {
    var builder = ArchiveBuilder()
    let value = builder.string("2")
    let dictionary = builder.dictionary([("modelVersion", value)])
    let info = try builder.bytes(root: dictionary)
    var other = ArchiveBuilder()
    let text = other.string("rows")
    let variable = other.object("NSVariableExpression", ["NSVariable": text])
    let rows = try other.bytes(root: variable)
    let mapping = try mapping([
      "sourcename": "A", "destinationname": "B", "userinfodata": Data(info).base64EncodedString(),
      "sourceexpressiondata": Data(rows).base64EncodedString(options: .lineLength76Characters),
    ])
    #expect(mapping.userInfo == ["modelVersion": "2"])
    #expect(mapping.sourceExpression == .variable("rows"))
  }

  @Test func `warns of values and objects that it doesn't know`() throws {
    let object = Self.object(
      "XDDEVENTITYMAPPING", "z2", ["sourcename": "A", "colour": "red", "mappingtypename": "Odd"])
    let other = Self.object("XDDEVSOMETHING", "z3", [:])
    let read = try MappingModelFile.read(Self.document(Self.model("z2") + object + other + "<extra/>")).read
    #expect(
      Set(read.warnings.map(\.kind)) == [
        .unknownElement("extra"), .unknownKey("colour"), .unknownClass("XDDEVSOMETHING"),
        .invalidValue("Odd", of: "mappingtypename"),
      ])
  }

  // MARK: - Bad input

  static let bad: [(name: String, bytes: [UInt8], words: String)] = {
    let mapping = object("XDDEVENTITYMAPPING", "z2", ["sourcename": "A"], links: link("attributemappings", "z3"))
    let attribute = object("XDDEVATTRIBUTEMAPPING", "z3", ["name": "a"])
    func source(_ objects: String...) -> [UInt8] { document(objects.joined()) }
    return [
      ("nothing", [], "an empty file"),
      ("text", Array("hello".utf8), "a text file"),
      ("a store", Array("SQLite format 3\0".utf8) + Array(repeating: 0, count: 84), "a SQLite store"),
      ("JSON", Array("{}".utf8), "a JSON file"),
      ("a compressed file", [0x1F, 0x8B, 8, 0, 0, 0], "a compressed file"),
      ("a model", Array("<model/>".utf8), "a model"),
      ("another document", Array("<html></html>".utf8), "<html>"),
      ("half a document", Array(source(model("z2"), mapping, attribute).dropLast(30)), "truncated"),
      ("a document with entities", Array("<!DOCTYPE a [<!ENTITY b \"c\">]><database/>".utf8), "entities"),
      ("no object", source(), "is missing"),
      ("another store", source(object("NOTE", "z1", [:])), "\"NOTE\""),
      ("two mapping models", source(model(""), model("").replacing("z1", with: "z9")), "2 mapping models"),
      ("two objects of one name", source(model(""), model("")), "two objects"),
      ("an object without a name", source("<object type=\"A\"/>"), "no identifier"),
      ("a link that leads nowhere", source(model("z7")), "\"z7\", which doesn't exist"),
      ("a link to something else", source(model("z3"), attribute), "as its entitymappings"),
      (
        "a property of two mappings",
        source(model("z2 z4"), mapping, mapping.replacing("z2", with: "z4"), attribute), "belongs to two"
      ),
      (
        "a property that is mapped twice",
        source(
          model("z2"), mapping.replacing("\"z3\"", with: "\"z3 z4\""), attribute,
          attribute.replacing("z3", with: "z4")), "twice"
      ),
      (
        "a value twice", source("<object type=\"A\" id=\"1\"><attribute name=\"a\"/><attribute name=\"a\"/></object>"),
        "\"a\" twice"
      ),
      (
        "an expression in no code",
        source(model("z2"), mapping, object("XDDEVATTRIBUTEMAPPING", "z3", ["name": "a", "valueexpressiondata": "?"])),
        "not valid base64"
      ),
      (
        "an expression that is none",
        source(
          model("z2"), mapping, object("XDDEVATTRIBUTEMAPPING", "z3", ["name": "a", "valueexpressiondata": "AAAA"])),
        "the expression of \"A\".a"
      ),
      ("half an archive", Array("bplist00".utf8), "property list"),
      ("an archive of something else", archive { $0.object("NSArray", ["NS.objects": .array([])]) }, "NSArray"),
      ("a compiled model", archive { $0.object("NSManagedObjectModel") }, "a compiled model"),
      (
        "a list that is no archive", (try? BinaryPropertyListWriter.bytes(of: .array([]))) ?? [],
        "a property list without a mapping model"
      ),
      ("a hash of 3 bytes", compiled { _ in ["NSSourceEntityVersionHash": .data([1, 2, 3])] }, "3 bytes"),
      ("a hash that is text", compiled { ["NSSourceEntityVersionHash": $0.string("x")] }, "not a version hash"),
      ("an expression that is text", compiled { ["NSSourceExpression": $0.string("x")] }, "not an expression"),
      (
        "a property without a name",
        compiled { builder in
          let property = builder.object("NSPropertyMapping")
          return ["NSAttributeMappings": builder.array([property])]
        }, "has no name"
      ),
      (
        "a property twice",
        compiled { builder in
          let name = builder.string("a")
          let property = builder.object("NSPropertyMapping", ["NSDestinationPropertyName": name])
          return ["NSAttributeMappings": builder.array([property, property])]
        }, "twice"
      ),
      ("an expression within itself", selfContaining, "nested more than"),
    ]
  }()

  private static func archive(_ make: (inout ArchiveBuilder) -> PropertyListValue) -> [UInt8] {
    var builder = ArchiveBuilder()
    let root = make(&builder)
    return (try? builder.bytes(root: root)) ?? []
  }

  private static func compiled(_ make: (inout ArchiveBuilder) -> [String: PropertyListValue]) -> [UInt8] {
    archive { builder in
      let members = make(&builder)
      let mapping = builder.object("NSEntityMapping", members)
      let list = builder.array([mapping])
      return builder.object("NSMappingModel", ["NSEntityMappings": list])
    }
  }

  private static var selfContaining: [UInt8] {
    compiled { builder in
      let selector = builder.string("f:")
      let function = builder.object("NSFunctionExpression", ["NSSelectorName": selector])
      let arguments = builder.array([function])
      builder.set("NSArguments", of: function, to: arguments)
      return ["NSSourceExpression": function]
    }
  }

  @Test(arguments: bad)
  func `says what is wrong with bytes that are no mapping model`(
    _ name: String, _ bytes: [UInt8], _ words: String
  ) throws {
    let error = try #require(throws: MappingReadingError.self) { try MappingModelFile.read(bytes) }
    #expect(error.description.contains(words), "\(name): \(error.description)")
    #expect(error.recoverySuggestion != nil)
  }

  @Test func `survives any damage to a compiled mapping model`() throws {
    var mapping = EntityMapping(from: "A", to: "B", policyNamed: "P")
    mapping.attributeMappings = [PropertyMapping(name: "a", copying: "b")]
    mapping.sourceExpression = .variable("rows")
    let bytes = try MappingArchiveWriter.archive(MappingModel(entityMappings: [mapping]))
    var read = 0
    for position in bytes.indices {
      for flip: UInt8 in [0x01, 0x10, 0x80] {
        var damaged = bytes
        damaged[position] ^= flip
        if (try? MappingModelFile.read(damaged)) != nil { read += 1 }
      }
      #expect(throws: MappingReadingError.self) { try MappingModelFile.read(Array(bytes[..<position])) }
    }
    // Most bytes are names or unused numbers: a flip changes them to others.
    #expect(read > 0)
  }

  @Test func `survives any damage to a source`() throws {
    let values = ["name": "r", "sourcekeypath": "$source.a", "sourcemappingname": "AToA"]
    let mapping = Self.object(
      "XDDEVENTITYMAPPING", "z2", ["sourcename": "A", "destinationname": "B"],
      links: Self.link("relationshipmappings", "z3"))
    let bytes = Self.document(Self.model("z2") + mapping + Self.object("XDDEVRELATIONSHIPMAPPING", "z3", values))
    #expect(try MappingModelFile.read(bytes).read.warnings == [])
    for position in bytes.indices {
      #expect(throws: MappingReadingError.self) { try MappingModelFile.read(Array(bytes[..<position])) }
      var damaged = bytes
      damaged[position] ^= 0x01
      do throws(MappingReadingError) {
        _ = try MappingModelFile.read(damaged)
      } catch {
        #expect(error.description.hasSuffix("."))
      }
    }
  }

  @Test func `names the path of what can't be read`() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.url.appendingPathComponent("M.xcmappingmodel").path
    let missing = try #require(throws: MappingReadingError.self) { try MappingModelFile.read(folder) }
    #expect(missing == MappingReadingError(path: folder, problem: .missing))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let empty = try #require(throws: MappingReadingError.self) { try MappingModelFile.read(folder) }
    #expect(empty.description.contains("xcmapping.xml"))
    try Data(Self.document(Self.model(""))).write(to: URL(fileURLWithPath: folder + "/xcmapping.xml"))
    #expect(try MappingModel(contentsOf: URL(fileURLWithPath: folder)) == MappingModel(entityMappings: []))
    #expect(MappingModelFile.isMappingModel(folder))
    let other = directory.url.appendingPathComponent("other").path
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    let none = try #require(throws: MappingReadingError.self) { try MappingModelFile.read(other) }
    #expect(
      none == MappingReadingError(path: other, problem: .notMappingModel(found: "a folder that is not a mapping model"))
    )
    #expect(!MappingModelFile.isMappingModel(other))
  }
}
