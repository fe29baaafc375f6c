import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

/// Paths over several versions of a model.
struct MigrationPathTests {
  /// Makes a version with an entity A that has the given attributes and types.
  private static func version(_ types: [(String, AttributeType)]) throws -> ManagedObjectModel {
    let entity = Make.entity("A", types.map { AttributeDescription(name: $0.0, type: $0.1) })
    return try ManagedObjectModel(entities: [entity])
  }

  /// Makes six versions; nothing can be inferred from the third to the fourth.
  private static func versions() throws -> [ManagedObjectModel] {
    try [
      version([("x", .string)]), version([("x", .string), ("y", .integer16)]),
      version([("x", .string), ("y", .integer32)]), version([("x", .date), ("y", .integer32)]),
      version([("x", .date), ("y", .integer64)]), version([("x", .date), ("y", .integer64), ("z", .string)]),
    ]
  }

  /// Returns a mapping whose policy tells which versions it is for, counted from 1.
  private static func given(_ versions: [ManagedObjectModel], _ from: Int, _ to: Int) -> MappingModel {
    MappingModel(entityMappings: [EntityMapping(from: "A", to: "A", policyNamed: "\(from) to \(to)")])
      .completed(from: versions[from - 1], to: versions[to - 1])
  }

  private static func path(_ versions: [ManagedObjectModel], _ given: [MappingModel] = []) throws -> MigrationPath {
    try MigrationPath(
      from: versions[0], to: versions[versions.count - 1], between: Array(versions.dropFirst().dropLast()), given: given
    )
  }

  /// Returns the hops by the numbers of their ends.
  private static func ways(_ path: MigrationPath, _ versions: [ManagedObjectModel]) -> [String] {
    path.hops.map { hop in
      let ends = [hop.source, hop.destination].map { String((versions.firstIndex(of: $0) ?? -1) + 1) }
      return ends.joined(separator: "-") + (hop.isGiven ? " by \(hop.mapping.policyNames.joined())" : "")
    }
  }

  @Test func `steps that can be inferred make one hop`() throws {
    let versions = Array(try Self.versions().prefix(3))
    let path = try Self.path(versions)
    #expect(Self.ways(path, versions) == ["1-3"])
    #expect(path.hops.first?.mapping == MappingInference(through: versions)?.draft)
  }

  @Test func `a step with a mapping of its own divides the way`() throws {
    let versions = try Self.versions()
    let path = try Self.path(versions, [Self.given(versions, 3, 4)])
    #expect(Self.ways(path, versions) == ["1-3", "3-4 by 3 to 4", "4-6"])
  }

  @Test(arguments: [[AttributeType.date, .date], [.date, .string], [.string, .date]])
  func `no entity is dropped because a mapping in Swift leaves it open`(types: [AttributeType]) throws {
    func version(_ types: [AttributeType]) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        entities: zip(["A", "B", "C"], types).map { name, type in
          return Make.entity(name, [AttributeDescription(name: "x", type: type)])
        })
    }
    let versions = try [version([.string, .string, .string]), version([.date] + types)]
    let given = MappingModel(entityMappings: [EntityMapping(from: "A", to: "A", policyNamed: "A")])
      .completed(from: versions[0], to: versions[1])
    let error = try #require(throws: MappingInferenceError.self) { try Self.path(versions, [given]) }
    let open = zip(["B", "C"], types).filter { $0.1 == .date }.map(\.0)
    #expect(Set(error.obstacles.map(\.entity)).isSuperset(of: open))
    // With a mapping for the others too, the path is whole.
    let rest = MappingModel(entityMappings: open.map { EntityMapping(from: $0, to: $0, policyNamed: $0) })
      .completed(from: versions[0], to: versions[1])
    let path = try Self.path(versions, [given, rest])
    #expect(path.hops.map { $0.mapping.entityMappings.count } == [3])
  }

  @Test func `one mapped subentity settles nothing for its siblings, and a copy no external values`() throws {
    func version(_ type: AttributeType, isExternal: Bool = false) throws -> ManagedObjectModel {
      var entity = Make.entity("P", isAbstract: true)
      let attribute = Make.attribute("x", type, optional: false, external: isExternal)
      entity.attributes = [attribute]
      let below = ["A", "B"].map { name -> EntityDescription in
        return Make.entity(name, parent: "P")
      }
      return try ManagedObjectModel(entities: [entity] + below)
    }
    func path(
      _ versions: [ManagedObjectModel], _ property: PropertyMapping, _ names: [String]
    ) throws -> MigrationPath {
      let mappings = names.map { EntityMapping(from: $0, to: $0, attributeMappings: [property]) }
      let given = MappingModel(entityMappings: mappings).completed(from: versions[0], to: versions[1])
      return try Self.path(versions, [given])
    }
    let number = PropertyMapping("x", expression: "FUNCTION($source.x, 'integerValue')")
    let texts = [try version(.string), try version(.integer64)]
    #expect(throws: MappingInferenceError.self) { try path(texts, number, ["A"]) }
    #expect(try path(texts, number, ["A", "B"]).hops.count == 1)
    let bytes = [try version(.binary, isExternal: true), try version(.binary)]
    #expect(throws: MappingInferenceError.self) { try path(bytes, PropertyMapping("x", copying: "x"), ["A", "B"]) }
  }

  @Test func `of several ways that with the fewest hops wins`() throws {
    let versions = try Self.versions()
    let given = [Self.given(versions, 3, 4), Self.given(versions, 2, 6), Self.given(versions, 3, 5)]
    #expect(Self.ways(try Self.path(versions, given), versions) == ["1-2", "2-6 by 2 to 6"])
    #expect(
      Self.ways(try Self.path(Array(versions.prefix(5)), [given[0], given[2]]), versions) == ["1-3", "3-5 by 3 to 5"])
    #expect(Self.ways(try Self.path(versions, given + [Self.given(versions, 1, 6)]), versions) == ["1-6 by 1 to 6"])
  }

  @Test func `where no step is missing but one on the way, the direct inference may do`() throws {
    let types: [[(String, AttributeType)]] = [[("x", .string)], [("x", .date)], [("x", .string), ("y", .string)]]
    let versions = try types.map { try Self.version($0) }
    #expect(Self.ways(try Self.path(versions), versions) == ["1-3"])
  }

  @Test func `a way is divided where one mapping can't say what the steps come to`() throws {
    func version(_ elements: [(String, String?)], more: String) throws -> ManagedObjectModel {
      var composite = AttributeDescription(name: "c", type: .composite)
      composite.composite = CompositeAttributeDescription(
        elements: elements.map { name, id in
          return Make.attribute(name, optional: false, id: id)
        })
      let entity = Make.entity("A", [composite, AttributeDescription(name: more, type: .string)])
      return try ManagedObjectModel(entities: [entity])
    }
    // Each renames the attribute from the name before.
    let versions = try [
      version([("e", nil)], more: "m"), version([("f", "e")], more: "n"), version([("g", "f")], more: "o"),
      version([("g", "f")], more: "p"),
    ]
    let path = try Self.path(versions)
    #expect(Self.ways(path, versions) == ["1-2", "2-4"])
  }

  @Test func `a way that isn't there says what stands in it, and why what was given doesn't help`() throws {
    let versions = try Self.versions()
    let error = try #require(throws: MappingInferenceError.self) { try Self.path(versions) }
    #expect(error.obstacles.map(\.kind) == [.incompatibleTypes])
    let other = try [Self.version([("x", .uuid)]), Self.version([("x", .boolean)])]
    let unfitting = try #require(throws: MappingInferenceError.self) {
      try Self.path(versions, [Self.given(other, 1, 2)])
    }
    let reasons = unfitting.obstacles.filter { $0.kind == .invalidMapping }.map(\.reason)
    #expect(reasons.count >= 2)
    #expect(reasons.allSatisfy { $0.contains("\"A->A\"") && $0.contains("\"A\"") })
  }

  @Test func `mappings that lead in a circle are no way`() throws {
    let versions = try Self.versions()
    let back = Self.given(versions, 3, 1)
    let error = try #require(throws: MappingInferenceError.self) { try Self.path(versions, [back]) }
    #expect(error.obstacles.contains { $0.kind == .invalidMapping && $0.reason.contains("circle") })
    // A mapping that leads back does no harm if there is a path.
    #expect(
      Self.ways(try Self.path(versions, [back, Self.given(versions, 3, 4)]), versions)
        == ["1-3", "3-4 by 3 to 4", "4-6"])
  }
}
