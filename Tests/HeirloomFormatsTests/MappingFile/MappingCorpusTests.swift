import Foundation
import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct MappingCorpusTests {
  static let sources = Corpus.mappingPaths.filter { !$0.hasSuffix(".cdm") }
  static let compiled = Corpus.mappingPaths.filter { $0.hasSuffix(".cdm") }

  /// Left out, with the reason; everything else is understood.
  static let warnings: [String: [String]] = [
    // These are leftovers of editing that belong to no mapping model: their inverse leads nowhere.
    "ThreemaData.xcmappingmodel": [
      "\"ImageMessage\"", "\"TextMessage\"", "\"TextMessageMapping\"", "\"Mapping\"", "\"\"",
    ],
    // No entity mapping lists these property mappings, and they don't name one.
    "MappingFrom6To7Model.xcmappingmodel": [
      "\"previousValidity\"", "\"previousOperatorBLSPublicKeys\"", "\"previousSimplifiedMasternodeEntryHashes\"",
    ],
    "Moody 2-Moody 3.xcmappingmodel": ["\"moods\"", "\"moods\""],
    "Moody 5-Moody 6.xcmappingmodel": ["\"isoContinent\"", "\"attribute1\"", "\"attribute\""],
    // This new entity mapping was never given an entity.
    "Delta4ToDelta5.xcmappingmodel": ["\"Mapping\""],
    // Xcode's compiler calls it a copy, although a relationship was added to Person.
    "V2toV3.cdm": ["\"PersonToPerson\""],
  ]

  private static func read(_ path: String) throws -> ReadMappingModel {
    try MappingModelFile.read(Corpus.folder.appendingPathComponent(path).path).read
  }

  @Test func `knows all mapping models of the corpus`() {
    #expect(Self.sources.count == 29)
    #expect(Self.compiled.count == 2)
  }

  @Test(arguments: Corpus.mappingPaths)
  func `reads every mapping model, and warns only of what means nothing`(_ path: String) throws {
    let read = try Self.read(path)
    #expect(!read.mappingModel.entityMappings.isEmpty)
    let expected = Self.warnings[(path as NSString).lastPathComponent] ?? []
    #expect(read.warnings.count == expected.count, "\(read.warnings)")
    for (warning, place) in zip(read.warnings, expected) { #expect(warning.place.hasPrefix(place)) }
    let expressions = read.mappingModel.entityMappings.flatMap { $0.attributeMappings + $0.relationshipMappings }
      .compactMap(\.valueExpression)
    for expression in expressions {
      // Everything that was edited in Xcode is text that reads back to the same expression.
      #expect(try ValueExpression(parsing: expression.predicateFormat) == expression)
    }
  }

  @Test func `reads each expression that was edited`() throws {
    var count = 0
    for path in Self.sources {
      for mapping in try Self.read(path).mappingModel.entityMappings {
        count += (mapping.attributeMappings + mapping.relationshipMappings).filter { $0.valueExpression != nil }.count
      }
    }
    // There are 18 of attributes and 5 of relationships as archives, and 4 key paths with the name of a mapping; one of
    // these belongs to no entity mapping.
    #expect(count == 26)
  }

  @Test(arguments: sources)
  func `fits the two versions that the file names`(_ path: String) throws {
    let read = try Self.read(path)
    let (source, destination) = try Corpus.models(of: read, in: String(path.prefix { $0 != "/" }))
    #expect(read.mismatches(from: source, to: destination) == [])
    let completed = read.mappingModel.completed(from: source, to: destination)
    #expect(completed.mismatches(from: source, to: destination) == [])
    #expect(completed.carriesHashes)
    for mapping in completed.entityMappings { #expect(mapping.mappingType != .undefined) }
    // The file lists what the destination has: no property was taken for another.
    for mapping in read.mappingModel.entityMappings {
      guard let entity = mapping.destinationEntityName, let open = mapping.openProperties else { continue }
      let listed = Set(mapping.relationshipMappings.map(\.name) + open.relationships)
      #expect(listed.isSubset(of: destination.relationships(of: entity).map(\.name)))
    }
  }

  @Test(arguments: sources)
  func `writes what Xcode would compile, and reads it back`(_ path: String) throws {
    let read = try Self.read(path)
    let (source, destination) = try Corpus.models(of: read, in: String(path.prefix { $0 != "/" }))
    let model = read.mappingModel.completed(from: source, to: destination)
    let back = try MappingModelFile.read(try MappingArchiveWriter.archive(model))
    #expect(back.kind == .compiled)
    #expect(back.read.mappingModel == model)
    #expect(back.read.warnings == [])
  }

  @Test func `belongs to the pair that the project's facts name`() throws {
    var pairs = 0
    for project in Set(Self.sources.map { String($0.prefix { $0 != "/" }) }).sorted() {
      let data = try Data(contentsOf: Corpus.folder.appendingPathComponent("\(project)/FACTS.json"))
      let facts = try JSONDecoder().decode(Facts.self, from: data)
      for pair in facts.models.flatMap({ $0.pairs ?? [] }) {
        for mapping in pair.mapping_models where Self.sources.contains("\(project)/\(mapping)") {
          let read = try Self.read("\(project)/\(mapping)")
          #expect(read.sourceModelName.map { $0 + ".xcdatamodel" } == pair.from)
          #expect(read.destinationModelName.map { $0 + ".xcdatamodel" } == pair.to)
          pairs += 1
        }
      }
    }
    // The other mapping models are for versions that aren't consecutive: back (corestore), over several (threema-ios).
    #expect(pairs == 27)
  }

  @Test(arguments: compiled)
  func `reads the same from a compiled mapping model as from its source`(_ path: String) throws {
    var compiled = try Self.read(path)
    if path.contains("@bcd60e2e") {
      // It was compiled while the policy had another name.
      for index in compiled.mappingModel.entityMappings.indices
      where compiled.mappingModel.entityMappings[index].entityMigrationPolicyClassName
        == "CoreDataPlus_Tests_macOS.V2to3MakerPolicyPolicy"
      {
        compiled.mappingModel.entityMappings[index].entityMigrationPolicyClassName =
          "REPLACE_AT_RUNTIME.V2to3MakerPolicy"
      }
    }
    let source = try Self.read("coredataplus/mappings/V2toV3.xcmappingmodel")
    #expect(compiled.mappingModel.carriesHashes)
    // The hashes tell for which of the many states of these models it was compiled.
    func models(_ name: String) throws -> [ManagedObjectModel] {
      try Corpus.modelPaths.filter { $0.hasPrefix("coredataplus/") && $0.hasSuffix("/\(name).xcdatamodel") }
        .map { try Corpus.model(at: Corpus.folder.appendingPathComponent($0).path) }
    }
    let sources = try models(try #require(source.sourceModelName))
    let destinations = try models(try #require(source.destinationModelName))
    var fitting = 0
    for from in sources {
      for to in destinations where compiled.mismatches(from: from, to: to).isEmpty {
        fitting += 1
        let effects = [compiled, source].map { Self.effect(of: $0.mappingModel, from: from, to: to).entityMappings }
        #expect(effects[0].count == effects[1].count)
        for (one, other) in zip(effects[0], effects[1]) { #expect(one == other) }
      }
    }
    #expect(fitting > 0)
  }

  /// Names and order, hashes, rows, policies, and each property's value.
  ///
  /// Parts without effect are left out: values of computed attributes, relationships without a
  /// value, and the function by which links are found if only one entity mapping can have made
  /// their objects.
  private static func effect(
    of mappingModel: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> MappingModel {
    var model = mappingModel.completed(from: source, to: destination)
    model.entityMappings = model.entityMappings.map { mapping in
      var mapping = mapping
      let entity = mapping.destinationEntityName ?? ""
      mapping.attributeMappings = mapping.attributeMappings.compactMap { property in
        guard let attribute = destination.attribute(named: property.name, of: entity), attribute.derivation == nil
        else { return nil }
        if case .attribute(let name) = property.form { return PropertyMapping(name: property.name, copying: name) }
        return property
      }
      mapping.relationshipMappings = mapping.relationshipMappings.compactMap { property in
        guard case .linksThroughMapping(let through, let name) = property.form else {
          return property.valueExpression == nil ? nil : property
        }
        let target = mapping.sourceEntityName.flatMap { source.relationship(named: name, of: $0) }?.destinationEntity
        let makers = model.entityMappings.filter { maker in
          guard let origin = maker.sourceEntityName else { return false }
          return origin == target || source.superentities(of: origin).contains { $0.name == target }
        }
        guard makers.map(\.name) == [through] else { return property }
        return PropertyMapping(name: property.name, linksOf: name)
      }
      return mapping
    }
    return model
  }
}

/// The part of a project's facts that names the mapping model of each hop.
private struct Facts: Decodable {
  let models: [Model]

  struct Model: Decodable {
    let pairs: [Pair]?
  }

  struct Pair: Decodable {
    let from: String
    let to: String
    let mapping_models: [String]
  }
}
