import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

/// Paths by given mappings, none of which is passed over.
struct GivenPathTests {
  /// Makes a version with an entity for each list of attributes.
  private static func version(
    _ entities: [(String, [(String, AttributeType)])]
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: entities.map { name, types in
        return Make.entity(name, types.map { AttributeDescription(name: $0.0, type: $0.1) })
      })
  }

  /// Makes six versions, each of which can be inferred from each earlier one.
  private static func versions() throws -> [ManagedObjectModel] {
    let names = ["a", "b", "c", "d", "e"]
    return try (0...5).map { count in
      try version([("A", [("x", .string)] + names.prefix(count).map { ($0, .string) })])
    }
  }

  /// Returns a mapping whose policy tells which versions it is for, counted from 1.
  private static func given(_ versions: [ManagedObjectModel], _ from: Int, _ to: Int) -> MappingModel {
    MappingModel(entityMappings: [EntityMapping(from: "A", to: "A", policyNamed: "\(from)-\(to)")])
      .completed(from: versions[from - 1], to: versions[to - 1])
  }

  /// Finds a path; the names of versions are their numbers from 1.
  private static func path(
    _ versions: [ManagedObjectModel], from source: Int, to destination: Int, isOrdered: Bool, _ given: [MappingModel]
  ) throws -> MigrationPath {
    let isForward = source < destination
    return try MigrationPath(
      from: versions[source - 1], to: versions[destination - 1],
      between: isOrdered && isForward ? Array(versions[source..<(destination - 1)]) : [],
      others: isOrdered && isForward ? [] : versions, given: given, labels: given.flatMap(\.policyNames)
    ) { model in versions.firstIndex(of: model).map { "v\($0 + 1)" } }
  }

  /// Returns the hops by the numbers of their ends, given ones in brackets.
  private static func words(_ path: MigrationPath, _ versions: [ManagedObjectModel]) -> String {
    path.hops.map { hop in
      let ends = [hop.source, hop.destination].map { String((versions.firstIndex(of: $0) ?? -1) + 1) }
      let words = ends.joined(separator: "-")
      return hop.isGiven ? "[\(hop.mapping.policyNames == [words] ? words : "wrong")]" : words
    }.joined(separator: " ")
  }

  /// The ends of a path, with the expected result.
  struct Row: CustomTestStringConvertible, Sendable {
    let source: Int
    let destination: Int
    let given: [String]
    let way: String
    let unused: [String]
    let isOrdered: Bool

    init(
      known isOrdered: Bool, _ source: Int, _ destination: Int, _ given: String, _ way: String, unused: String = ""
    ) {
      (self.source, self.destination, self.isOrdered, self.way) = (source, destination, isOrdered, way)
      self.given = given.split(separator: " ").map(String.init)
      self.unused = unused.split(separator: " ").map(String.init)
    }

    var testDescription: String {
      "\(source) to \(destination), order \(isOrdered ? "known" : "unknown"), given \(given.joined(separator: " "))"
    }
  }

  static let rows: [Row] = [
    // One mapping: for the whole path, at its start, in its middle, at its end.
    Row(known: true, 1, 2, "1-2", "[1-2]"), Row(known: false, 1, 2, "1-2", "[1-2]"),
    Row(known: true, 1, 4, "1-4", "[1-4]"), Row(known: false, 1, 4, "1-4", "[1-4]"),
    Row(known: true, 1, 4, "1-2", "[1-2] 2-4"), Row(known: false, 1, 4, "1-2", "[1-2] 2-4"),
    Row(known: true, 2, 4, "2-3", "[2-3] 3-4"), Row(known: false, 2, 4, "2-3", "[2-3] 3-4"),
    Row(known: true, 1, 4, "2-3", "1-2 [2-3] 3-4"), Row(known: false, 1, 4, "2-3", "1-4", unused: "2-3"),
    Row(known: true, 1, 4, "3-4", "1-3 [3-4]"), Row(known: false, 1, 4, "3-4", "1-4", unused: "3-4"),
    // Several mappings, one after the other.
    Row(known: true, 1, 6, "1-2 2-3", "[1-2] [2-3] 3-6"), Row(known: false, 1, 6, "2-3 1-2", "[1-2] [2-3] 3-6"),
    Row(known: true, 1, 6, "1-2 4-5", "[1-2] 2-4 [4-5] 5-6"),
    Row(known: false, 1, 6, "1-2 4-5", "[1-2] 2-6", unused: "4-5"),
    Row(known: true, 1, 6, "3-4 4-5", "1-3 [3-4] [4-5] 5-6"),
    Row(known: true, 1, 3, "1-2 2-3", "[1-2] [2-3]"), Row(known: false, 1, 3, "1-2 2-3", "[1-2] [2-3]"),
    // Two that start at one version: the one that given ones continue wins, otherwise the one that leads nearest.
    Row(known: true, 1, 6, "1-2 1-3", "[1-3] 3-6", unused: "1-2"),
    Row(known: false, 1, 6, "1-3 1-2", "[1-3] 3-6", unused: "1-2"),
    Row(known: true, 1, 6, "1-2 2-6 1-4", "[1-2] [2-6]", unused: "1-4"),
    Row(known: false, 1, 6, "1-2 2-6 1-4", "[1-2] [2-6]", unused: "1-4"),
    Row(known: true, 1, 6, "1-4 2-4", "[1-4] 4-6", unused: "2-4"),
    Row(known: true, 1, 6, "2-4 3-5", "1-2 [2-4] 4-6", unused: "3-5"),
    // Two mappings end at one version.
    Row(known: true, 1, 4, "1-3 2-3", "[1-3] 3-4", unused: "2-3"),
    Row(known: false, 1, 4, "1-3 2-3", "[1-3] 3-4", unused: "2-3"),
    Row(known: true, 1, 4, "1-4 1-2 2-4", "[1-4]", unused: "1-2 2-4"),
    Row(known: false, 1, 4, "1-2 2-4 1-4", "[1-4]", unused: "1-2 2-4"),
    // The mappings lead there and back.
    Row(known: true, 1, 4, "1-2 2-1", "[1-2] 2-4", unused: "2-1"),
    Row(known: false, 1, 4, "1-2 2-1", "[1-2] 2-4", unused: "2-1"),
    Row(known: true, 2, 4, "1-2 2-1", "2-4", unused: "1-2 2-1"),
    Row(known: false, 2, 4, "1-2 2-1", "2-4", unused: "1-2 2-1"),
    Row(known: true, 1, 4, "3-2", "1-4", unused: "3-2"),
    Row(known: false, 2, 5, "1-2 2-3 3-2 2-1 3-1", "[2-3] 3-5", unused: "1-2 3-2 2-1 3-1"),
    // Names are only a hint: without a mapping that leads there again, a given one is not passed over.
    Row(known: false, 2, 4, "2-1", "[2-1] 1-4"), Row(known: false, 1, 4, "1-5", "[1-5] 5-4"),
    // These lead back, which only given ones begin.
    Row(known: true, 4, 1, "4-3 3-1", "[4-3] [3-1]"), Row(known: true, 4, 1, "4-2", "[4-2] 2-1"),
    Row(known: true, 4, 1, "3-4 4-3 2-3 3-2 1-2 2-1", "[4-3] [3-2] [2-1]", unused: "3-4 2-3 1-2"),
    // These are outside of the path.
    Row(known: true, 2, 4, "1-2", "2-4", unused: "1-2"), Row(known: false, 2, 4, "1-2", "2-4", unused: "1-2"),
    Row(known: true, 2, 4, "4-5 5-6", "2-4", unused: "4-5 5-6"),
    Row(known: false, 2, 4, "4-5 5-6", "2-4", unused: "4-5 5-6"),
  ]

  @Test(arguments: rows) func `a given mapping is used where the path can start with it, and told of where it isn't`(
    row: Row
  ) throws {
    let versions = try Self.versions()
    let given = row.given.map { name in
      let ends = name.split(separator: "-").compactMap { Int($0) }
      return Self.given(versions, ends[0], ends[1])
    }
    let path = try Self.path(versions, from: row.source, to: row.destination, isOrdered: row.isOrdered, given)
    #expect(Self.words(path, versions) == row.way)
    #expect(path.unused.map { row.given[$0.index] } == row.unused)
    for unused in path.unused {
      #expect(unused.reason.hasPrefix("\(row.given[unused.index]) is not ") && unused.reason.hasSuffix("."))
    }
    #expect(path.conflict == nil)
  }

  @Test func `why one isn't used is said in one sentence`() throws {
    let versions = try Self.versions()
    func reason(_ source: Int, _ destination: Int, isOrdered: Bool, _ given: (Int, Int)...) throws -> String? {
      try Self.path(
        versions, from: source, to: destination, isOrdered: isOrdered,
        given.map { Self.given(versions, $0.0, $0.1) }
      ).unused.last?.reason
    }
    #expect(
      try reason(1, 4, isOrdered: false, (2, 3))
        == "2-3 is not used: it goes from \"v2\" to \"v3\", and no lock.json says whether they are between \"v1\" and \"v4\"."
    )
    #expect(
      try reason(1, 4, isOrdered: false, (5, 6))
        == "5-6 is not for this migration: it goes from \"v5\" to \"v6\", which by name are not between \"v1\" and \"v4\"."
    )
    #expect(try reason(1, 4, isOrdered: true, (3, 2)) == "3-2 is not used: it goes backwards, from \"v3\" to \"v2\".")
    #expect(
      try reason(1, 4, isOrdered: true, (1, 3), (1, 2))
        == "1-2 is not used: from \"v1\" the path continues with another given mapping model, not to \"v2\".")
    #expect(
      try reason(1, 4, isOrdered: true, (1, 3), (2, 3))
        == "2-3 is not used: the path bypasses \"v2\", where it starts, by other given mapping models.")
    #expect(try reason(1, 4, isOrdered: false, (4, 5)) == "4-5 is not for this migration: it starts at \"v4\".")
    #expect(
      try reason(1, 4, isOrdered: true, (4, 5))?.hasPrefix(
        "4-5 is not for this migration: The entity mapping \"A->A\" was made for another version") == true)
  }

  // MARK: - Dead ends

  /// Makes versions between whose text and date nothing can be inferred; from one text to another, everything can.
  private static func changing(_ types: AttributeType...) throws -> [ManagedObjectModel] {
    try types.enumerated().map { index, type in
      try version([("A", [("x", type)] + (0..<index).map { ("more\($0)", .string) })])
    }
  }

  @Test(arguments: [true, false])
  func `where nothing leads on after a given mapping, the error names it, though the direct way could be inferred`(
    isOrdered: Bool
  ) throws {
    let versions = try Self.changing(.string, .date, .string)
    #expect(Self.words(try Self.path(versions, from: 1, to: 3, isOrdered: isOrdered, []), versions) == "1-3")
    let error = try #require(throws: MappingInferenceError.self) {
      try Self.path(versions, from: 1, to: 3, isOrdered: isOrdered, [Self.given(versions, 1, 2)])
    }
    #expect(error.obstacles.map(\.kind) == [.invalidMapping, .incompatibleTypes])
    #expect(
      error.obstacles.first?.reason
        == "1-2 ends at \"v2\", where the path stops: from there to \"v3\", no mapping can be inferred.")
    #expect(error.obstacles.first?.suggestion == "Give a mapping model from \"v2\" to \"v3\" as well.")
    #expect(error.skeleton != nil)
    let both = [Self.given(versions, 1, 2), Self.given(versions, 2, 3)]
    #expect(Self.words(try Self.path(versions, from: 1, to: 3, isOrdered: isOrdered, both), versions) == "[1-2] [2-3]")
  }

  @Test func `where nothing leads to the start of a given mapping on the way, the error names it`() throws {
    let versions = try Self.changing(.string, .date, .date, .string)
    let given = [Self.given(versions, 2, 3)]
    let error = try #require(throws: MappingInferenceError.self) {
      try Self.path(versions, from: 1, to: 4, isOrdered: true, given)
    }
    #expect(
      error.obstacles.first?.reason
        == "2-3 starts at \"v2\", and from \"v1\" to there no mapping can be inferred.")
    // It isn't known here whether it is on the path.
    let path = try Self.path(versions, from: 1, to: 4, isOrdered: false, given)
    #expect(Self.words(path, versions) == "1-4" && path.unused.map(\.index) == [0])
  }

  @Test func `a way that isn't there without a known order says that the order would tell`() throws {
    let versions = try Self.changing(.string, .string, .date, .date)
    let given = [Self.given(versions, 2, 3)]
    let error = try #require(throws: MappingInferenceError.self) {
      try Self.path(versions, from: 1, to: 4, isOrdered: false, given)
    }
    #expect(error.obstacles.contains { $0.reason.contains("2-3 is not used") && $0.suggestion.contains("snapshot") })
    #expect(Self.words(try Self.path(versions, from: 1, to: 4, isOrdered: true, given), versions) == "1-2 [2-3] 3-4")
  }

  @Test func `mappings that lead round among other versions end`() throws {
    let versions = try Self.versions()
    // Each leads to a version that the other has reached as well.
    let given = [(1, 2), (1, 3), (2, 3), (3, 2)].map { Self.given(versions, $0.0, $0.1) }
    let path = try Self.path(versions, from: 1, to: 6, isOrdered: false, given)
    #expect(path.hops.first?.isGiven == true && path.hops.last?.destination == versions[5])
  }

  // MARK: - Several for one hop

  /// Makes versions with two entities that both change, and a third that doesn't.
  private static func pair() throws -> [ManagedObjectModel] {
    try ["x", "y"].map { name in
      try version([("A", [(name, .string)]), ("B", [(name, .string)]), ("C", [("z", .string)])])
    }
  }

  private static func part(_ mappings: EntityMapping...) throws -> MappingModel {
    let versions = try pair()
    return MappingModel(entityMappings: mappings).completed(from: versions[0], to: versions[1])
  }

  private static func path(_ given: MappingModel..., labels: [String] = []) throws -> MigrationPath {
    let versions = try pair()
    return try MigrationPath(from: versions[0], to: versions[1], given: given, labels: labels) { _ in nil }
  }

  @Test func `parts of one step are one mapping`() throws {
    let same = EntityMapping(from: "C", to: "C")
    let path = try Self.path(
      Self.part(EntityMapping(from: "A", to: "A"), same), Self.part(EntityMapping(from: "B", to: "B"), same))
    #expect(path.conflict == nil && path.unused.isEmpty && path.hops.map(\.isGiven) == [true])
    // Something that is said twice in the same words is said once.
    #expect(path.hops.first?.mapping.entityMappings.map(\.name) == ["A->A", "C->C", "B->B"])
  }

  @Test func `a part may link what another makes, and one of other versions may not`() throws {
    func version(_ count: Int) throws -> ManagedObjectModel {
      var child = EntityDescription(name: "Child")
      let link = Make.toOne("parent", "Parent")
      child.relationships = [link]
      let parent = Make.entity("Parent", (0..<count).map { AttributeDescription(name: "a\($0)", type: .string) })
      return try ManagedObjectModel(entities: [child, parent])
    }
    let versions = try [version(1), version(2), version(3)]
    let child = MappingModel(entityMappings: [
      EntityMapping(
        from: "Child", to: "Child",
        relationshipMappings: [PropertyMapping("parent", linksOf: "parent", through: "TheParents")])
    ])
    let parent = MappingModel(entityMappings: [EntityMapping(from: "Parent", to: "Parent", name: "TheParents")])
    func path(_ given: [MappingModel]) throws -> MigrationPath {
      try MigrationPath(from: versions[0], to: versions[2], between: [versions[1]], given: given)
    }
    let first = parent.completed(from: versions[0], to: versions[1])
    let both = try path([child.completed(from: versions[0], to: versions[1]), first])
    #expect(both.conflict == nil && both.unused.isEmpty && both.hops.map(\.isGiven) == [true, false])
    // An object that nobody makes can't be linked.
    var lonely = child
    lonely.entityMappings[0].name = "TheChildren"
    let other = MappingModel(entityMappings: [EntityMapping(from: "Parent", to: "Parent", name: "TheMothers")])
    let apart = try path([
      lonely.completed(from: versions[0], to: versions[1]), other.completed(from: versions[0], to: versions[1]),
      parent.completed(from: versions[1], to: versions[2]),
    ])
    #expect(apart.conflict?.contains("links \"parent\" to objects of \"TheParents\"") == true)
  }

  @Test(arguments: [
    (
      EntityMapping(from: "A", to: "B"),
      "Part.cdm and Other.cdm are for the same versions, and both have the source entity \"A\""
    ),
    (
      EntityMapping(from: "C", to: "A"),
      "Part.cdm and Other.cdm are for the same versions, and both have the destination entity \"A\""
    ),
    (
      EntityMapping(from: "A", to: "A", policyNamed: "P"),
      "Part.cdm and Other.cdm are for the same versions, and both have the source entity \"A\""
    ),
    (
      EntityMapping(from: "B", to: "B", name: "A->A"),
      "Part.cdm and Other.cdm are for the same versions, and both have an entity mapping with the name \"A->A\""
    ),
  ])
  func `parts that overlap are refused by name`(other: EntityMapping, words: String) throws {
    let part = try Self.part(EntityMapping(from: "A", to: "A"))
    let path = try Self.path(part, Self.part(other), labels: ["Part.cdm", "Other.cdm"])
    #expect(path.conflict == words)
    let counted = try Self.path(part, Self.part(other)).conflict
    #expect(counted?.hasPrefix("Mapping model 1 (\"A->A\") and mapping model 2 (\"\(other.name)\") are") == true)
  }

  @Test func `a part fits the narrowest of the steps that its entities' hashes fit`() throws {
    // The mapping's entity changes only in the third version, the other one each time.
    let versions = try (0..<5).map { count in
      try Self.version([
        ("A", [(count < 2 ? "x" : "y", .string)]), ("B", (0..<count).map { ("b\($0)", .string) }),
      ])
    }
    let part = MappingModel(entityMappings: [EntityMapping(from: "A", to: "A", policyNamed: "P")])
      .completed(from: versions[1], to: versions[2])
    let path = try MigrationPath(
      from: versions[0], to: versions[4], between: Array(versions[1...3]), given: [part])
    #expect(path.hops.map(\.isGiven) == [false, true, false])
    #expect(path.hops.dropFirst().first?.source == versions[1] && path.hops.last?.source == versions[2])
  }

  @Test func `one that only adds an entity belongs to the step of the others`() throws {
    let versions = try (0..<4).map { count in
      try Self.version([("A", (0...count).map { ("a\($0)", .string) })] + (count < 2 ? [] : [("B", [("b", .string)])]))
    }
    let main = Self.given(versions, 2, 3)
    let adding = MappingModel(entityMappings: [EntityMapping(from: nil, to: "B", policyNamed: "New")])
      .completed(from: versions[1], to: versions[2])
    let path = try MigrationPath(
      from: versions[0], to: versions[3], between: Array(versions[1...2]), given: [adding, main])
    #expect(path.hops.map(\.isGiven) == [false, true, false] && path.unused.isEmpty)
    #expect(path.hops[1].mapping.policyNames == ["2-3", "New"])
  }
}
