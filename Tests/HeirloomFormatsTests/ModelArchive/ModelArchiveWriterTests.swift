import Foundation
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

struct ModelArchiveWriterTests {
  private func archivableModel() throws -> ManagedObjectModel {
    let model = try ManagedObjectModel.everything()
    var entities = model.entities
    for index in entities.indices {
      // The layout of archives has no place for these, or none that is known.
      entities[index].codeGenerationType = nil
      entities[index].coreSpotlightDisplayNameExpression = nil
      entities[index].indexes.removeAll { $0.name == "byPlace" }
      for attribute in entities[index].attributes.indices {
        var description = entities[index].attributes[attribute]
        description.usesScalarValueType = nil
        description.allowsCloudEncryption = false
        description.validationRules.removeAll { $0.warning == nil }
        description.composite?.name = nil
        if description.derivation != nil {
          description.derivation?.filteringPredicate = .comparison(
            .init(left: .keyPath("size"), comparator: .notEqual, right: .constant(.value(.integer(3)))))
        }
        entities[index].attributes[attribute] = description
      }
      for relationship in entities[index].relationships.indices {
        entities[index].relationships[relationship].validationRules = [
          ValidationRule(
            predicate: .not(
              .or([
                .comparison(
                  .init(
                    left: .keyPath(operand: .variable("source"), path: "a.b"), comparator: .in,
                    right: .function(
                      operand: .variable("manager"), selector: "f:",
                      arguments: [.fetch(request: .variable("r"), context: .variable("c"), countOnly: true)]),
                    modifier: .any, isCaseInsensitive: true, isDiacriticInsensitive: true)),
                .comparison(.init(left: .evaluatedObject, comparator: .lessThan, right: .constant(.null))),
              ])), warning: .message("$null"))
        ]
      }
      for property in entities[index].fetchedProperties.indices {
        var request = entities[index].fetchedProperties[property].fetchRequest
        request.name = "fetchedPropertyFetchRequest"
        request.predicate = .comparison(
          .init(left: .keyPath("title"), comparator: .contains, right: .constant(.value(.string("é")))))
        request.havingPredicate = nil
        entities[index].fetchedProperties[property].fetchRequest = request
      }
    }
    let template = FetchRequestDescription(name: "all", entityName: "Document")
    return try ManagedObjectModel(
      entities: entities, versionIdentifiers: model.versionIdentifiers, configurations: model.configurations,
      fetchRequestTemplates: [template])
  }

  @Test func `reads back what was written`() throws {
    let model = try archivableModel()
    let result = try ModelArchiveReader.read(ModelArchiveWriter.archive(model))
    #expect(result.warnings == [])
    #expect(result.model.entities == model.entities)
    #expect(result.model == model)
    #expect(try ModelArchiveReader.readCache(ModelArchiveWriter.cache(model)).model == model)
    let isEqual = try ModelArchiveWriter.archive(model) == ModelArchiveWriter.archive(model)
    #expect(isEqual, "the same model gives the same bytes")
  }

  @Test func `leaves out what can't be archived, but nothing that is hashed`() throws {
    var entity = EntityDescription(name: "E")
    entity.coreSpotlightDisplayNameExpression = .keyPath("a")
    entity.attributes = [AttributeDescription(name: "a", type: .decimal)]
    entity.attributes[0].defaultValue = .decimal("1e500")
    entity.attributes[0].validationRules = [ValidationRule(predicate: .unparsed("x"))]
    entity.indexes = [
      FetchIndexDescription(
        name: "i", elements: [FetchIndexElementDescription(subject: .expression(.evaluatedObject, .string))])
    ]
    let model = try ManagedObjectModel(entities: [entity])
    let read = try ModelArchiveReader.read(ModelArchiveWriter.archive(model)).model
    #expect(read.versionHashes() == model.versionHashes())
    #expect(read.entities[0].attributes[0] == AttributeDescription(name: "a", type: .decimal))
    entity.attributes[0].derivation = DerivedAttributeDescription(derivationExpression: .unparsed("?"))
    let derived = try ManagedObjectModel(entities: [entity])
    #expect(throws: FormatError("The expression of the derived attribute \"E.a\" is of a kind that can't be archived."))
    {
      try ModelArchiveWriter.archive(derived)
    }
  }

  @Test(
    arguments: [
      "0", "5", "-12.34", "0.00001", "1000", "65536", "99999999999999999999999999999999999999", "12e40", "-7e-100",
    ])
  func `keeps each decimal number`(_ text: String) throws {
    var entity = Make.entity("E", [AttributeDescription(name: "a", type: .decimal)])
    entity.attributes[0].defaultValue = .decimal(text)
    let read = try ModelArchiveReader.read(ModelArchiveWriter.archive(ManagedObjectModel(entities: [entity]))).model
    guard case .decimal(let found)? = read.entities[0].attributes[0].defaultValue else {
      Issue.record("the default is lost")
      return
    }
    #expect(Decimal(string: found) == Decimal(string: text))
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ModelArchiveWriterCorpusTests {
  /// The endings of differences between Core Data's caches and ours that have no meaning.
  ///
  /// Its own caches differ so among each other, by version and by whether a model was compiled or made in code.
  private static let insignificant: [String] = [
    // Numbers for truth values; mutable collections and texts.
    ": integer(0) <> boolean(false)", ": integer(1) <> boolean(true)", ": NSMutableArray <> NSArray",
    ": NSArray <> NSMutableArray", ": NSMutableSet <> NSSet", ".NSSubentities: null <> object",
    // Some apps set or drop the classes of their entities at run time.
    ".NSClassNameForEntity: null <> string(\"NSManagedObject\")",
    // Keys of empty lists.
    ": [] <> [\"NSCompoundIndexes\", \"NSFetchIndexDescriptions\"]", ": [] <> [\"NSFetchIndexDescriptions\"]",
    ": [\"NSUniqueTuples\"] <> [\"NSCompoundIndexes\", \"NSFetchIndexDescriptions\"]",
    ": [\"NSUniqueTuples\"] <> []", ": [] <> [\"NSReverseNullOrder\"]",
    // Stand-ins of old systems for inherited properties.
    ": _NSPropertyDescriptionProxy <> NSAttributeDescription",
    ": _NSPropertyDescriptionProxy <> NSRelationshipDescription",
    // Defaults and user info that no model value can hold.
    ".NSDefaultValue: object <> null", ".EnumType: boolean(true) <> string(\"YES\")",
    ".NSUserInfo: keys [\"EnumType\", \"enum\"] <> [\"EnumType\"]",
    // The old view of compound indexes, which some caches leave empty; an index that one lists twice.
    ".NSCompoundIndexes.NS.objects: 0 <> 2 elements", ".NSFetchIndexDescriptions.NS.objects: 5 <> 3 elements",
    ": string(\"normalizedUserDefinedName\") <> string(\"internalIsArchived_lastModifiedDate\")",
  ]

  @Test func `has the objects, keys and values of Core Data's own caches`() throws {
    var significant: Set<String> = []
    var cacheCount = 0
    for path in Corpus.compiledModelPaths where path.contains("modelcache") {
      let original = Array(try Data(contentsOf: Corpus.folder.appendingPathComponent(path)))
      let model = try ModelArchiveReader.read(original).model
      let written = try ModelArchiveWriter.archive(model)
      #expect(try ModelArchiveReader.read(written) == ReadModel(model: model), "\(path)")
      for difference in try ArchiveComparison(original, written).differences
      where !Self.insignificant.contains(where: difference.hasSuffix) && !difference.contains(": object <> string(") {
        significant.insert("\(path): \(difference)")
      }
      cacheCount += 1
    }
    #expect(significant.sorted() == [])
    #expect(cacheCount >= 40)
  }
}
