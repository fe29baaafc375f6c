import HeirloomModel
import HeirloomSwiftSource
import HeirloomTesting
import TestSupport
import Testing

struct SwiftDataReleaseTests {
  private static func review(_ text: String, shipped: [String: [EntityDescription]]) throws -> [HistoryFinding] {
    var source = SwiftDataSource()
    source.add(Array(text.utf8), path: "App.swift")
    let releases = try shipped.sorted { $0.key < $1.key }.map { release in
      let hashes = try ManagedObjectModel(entities: release.value).versionHashes()
      return (name: release.key, hashes: hashes.mapValues { $0.description.uppercased() })
    }
    return SwiftDataReview(SwiftDataSchemas(source), shipped: releases).findings
  }

  private static let crate = Make.entity("Crate", [Make.attribute("code", optional: false)])
  private static let label = Make.entity("Label", [Make.attribute("text", optional: false)])

  private static func source(_ classes: String, _ models: String = "Crate.self") -> String {
    """
    enum Schemas { enum V1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static let models: [any PersistentModel.Type] = [\(models)]
      \(classes)
    } }
    """
  }

  struct Case: Sendable {
    let source: String
    let rule: HistoryRule
    var words: [String] = []
    var line: Int?
    var entity: String?
  }

  static let cases: [Case] = [
    Case(
      source: source(
        "@Model class Crate { var code = \"\" }\n@Model class Label { var text: String? }", "Crate.self, Label.self"),
      rule: .editedAfterRelease, words: ["Schemas.V1 differs from the release: Label was edited."], line: 5,
      entity: "Label"),
    Case(
      source: source("@Model class Crate { var code = \"\" }"),
      rule: .editedAfterRelease, words: ["Label was removed."], line: 1, entity: "Label"),
    Case(
      source: source(
        "@Model class Crate { var code = 0 }\n@Model class Tag { var text = \"\" }", "Crate.self, Tag.self"),
      rule: .editedAfterRelease, words: ["Crate was edited, Label was removed and Tag was added."], line: 1),
    Case(
      source: source("@Model class Box { var code = \"\" }", "Box.self").replacing("V1", with: "V2"),
      rule: .missingVersion, words: ["Schemas.V1 was released"]),
  ]

  @Test(arguments: cases)
  func `a release whose source is another one is found`(_ item: Case) throws {
    let findings = try Self.review(item.source, shipped: ["Schemas.V1": [Self.crate, Self.label]])
    try #require(findings.count == 1)
    #expect(findings[0].rule == item.rule && findings[0].severity == .error)
    #expect(findings[0].version == "Schemas.V1" && findings[0].entity == item.entity)
    #expect(findings[0].place?.line == item.line)
    for words in item.words { #expect(findings[0].message.contains(words), "\(findings[0].message)") }
  }

  @Test func `a release that is as it was is no finding`() throws {
    let text = Self.source(
      "@Model class Crate { var code = \"x\" }\n@Model class Label { var text = \"\" }", "Crate.self, Label.self")
    #expect(try Self.review(text, shipped: ["Schemas.V1": [Self.crate, Self.label]]).isEmpty)
  }

  @Test func `a release whose schema has another name is told by its hashes`() throws {
    let text = Self.source("@Model class Crate { var code = \"\" }")
    let findings = try Self.review(text, shipped: ["Old": [Self.crate]])
    #expect(findings.map(\.rule) == [.missingVersion] && findings.map(\.severity) == [.warning])
    #expect(findings[0].message.contains("Schemas.V1 has its hashes"))
  }

  @Test func `nothing is told of an entity that isn't certain, but that it isn't`() throws {
    let text = Self.source(
      "@Model class Crate { var code: Unknown }\n@Model class Label { var text = 0 }", "Crate.self, Label.self")
    let findings = try Self.review(text, shipped: ["Schemas.V1": [Self.crate, Self.label]])
    #expect(findings.map(\.rule) == [.editedAfterRelease, .uncertain])
    #expect(findings[0].entity == "Label" && findings[1].severity == .note && findings[1].place?.line == 4)
    #expect(findings[1].message.contains("one thing") && findings[1].message.contains("Crate.code"))
    // An entity that is gone may be what the unknown type stands for.
    let other = try Self.review(
      Self.source("@Model class Crate { var code: Unknown }"), shipped: ["Schemas.V1": [Self.crate, Self.label]])
    #expect(other.map(\.rule) == [.uncertain])
  }

  @Test func `a release isn't compared with either of two schemas of its name`() throws {
    let text = Self.source("@Model class Crate { var code = 0 }")
    let findings = try Self.review(text + "\n" + text, shipped: ["Schemas.V1": [Self.crate]])
    #expect(findings.map(\.rule) == [.repeatedSchema])
  }

  @Test func `a release isn't called lost while its type may be there`() throws {
    for text in ["enum V1 {", "protocol Base: VersionedSchema {}; enum V1: Base {}"] {
      let findings = try Self.review(text, shipped: ["V1": [Self.crate]])
      #expect(findings.map(\.rule) == [.uncertain])
    }
  }
}

struct SwiftDataReviewDamageTests {
  @Test func `a changed source is reviewed, and ends nothing`() {
    let all = SwiftDataReviewTests.plans + SwiftDataReviewTests.containers + SwiftDataReviewTests.live
    let texts = (all + SwiftDataReviewTests.steps + SwiftDataReviewTests.codes).map { Array($0.fault.utf8) }
    var random = SplitMix64(seed: 7)
    let pieces = ["(", ")", "[", "]", "{", "}", "\"", "`", ".", ",", "+", ":", "=", "\\", "\n", "@", "<", "?", "in"]
    for _ in 0..<LongTests.count(quick: 200, long: 20_000) {
      var bytes = texts.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        if Bool.random(using: &random) {
          bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &random)))
        } else {
          bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: place)
        }
      }
      var source = SwiftDataSource()
      source.add(bytes, path: "App.swift")
      let review = SwiftDataReview(SwiftDataSchemas(source), shipped: [("V1", ["Crate": "00"])])
      #expect(review.findings.allSatisfy { !$0.message.isEmpty })
    }
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SwiftDataReviewCorpusTests {
  @Test(arguments: SwiftDeclarations.all)
  func `a released version of the corpus is found to be edited only where its store differs`(
    _ item: SwiftDeclarations.Case
  ) throws {
    let declarations = try SwiftDeclarations(item.file)
    var source = SwiftDataSource()
    let models = declarations.roots.map { "\($0).self" }.joined(separator: ", ")
    let schema = """
      enum Release: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [\(models)] }
      }
      enum Plan: SchemaMigrationPlan {
        static let schemas: [any VersionedSchema.Type] = [Release.self]
        static let stages: [MigrationStage] = []
      }
      """
    source.add(Array(declarations.source.utf8), path: "Models.swift")
    source.add(Array(schema.utf8), path: "Plan.swift")
    let findings = SwiftDataReview(SwiftDataSchemas(source), shipped: [("Release", item.hashes)]).findings
    let edits = findings.filter { $0.rule != .uncertain }
    // (One list is published of some entities alone, and the others look as if they had been added.)
    let faults = edits.filter { $0.message.contains("was edited") || $0.message.contains("was removed") }
    #expect(edits.allSatisfy { $0.rule == .editedAfterRelease })
    #expect(faults.count == (item.isNegative ? 1 : 0), "\(faults.map(\.message))")
  }

  /// Two lists of one app that follow each other, with what is found between them.
  static let steps: [(old: String, new: String, found: Set<String>)] = [
    ("meshtastic-swiftdata/declarations/v2.7.13.json", "meshtastic-swiftdata/declarations/v2.7.14.json", []),
    ("meshtastic-swiftdata/declarations/v2.7.14.json", "meshtastic-swiftdata/declarations/v2.7.15.json", []),
    (
      "metacocktails-swiftdata/declarations/PreloadedCocktails.json",
      "metacocktails-swiftdata/declarations/default@3292fc79.json",
      [
        "missingDefault IngredientBase.category", "narrowedEnum Cocktail.collection", "narrowedEnum Cocktail.ice",
        "narrowedEnum Cocktail.variation", "narrowedEnum Ingredient.unit",
      ]
    ),
  ]

  @Test(arguments: steps)
  func `real versions side by side have the traps that a reader finds`(
    old: String, new: String, found: Set<String>
  ) throws {
    var source = SwiftDataSource()
    for (number, file) in [old, new].enumerated() {
      let declarations = try SwiftDeclarations(file)
      let models = declarations.roots.map { "\($0).self" }.joined(separator: ", ")
      let text = """
        enum V\(number): VersionedSchema {
          static let versionIdentifier = Schema.Version(\(number), 0, 0)
          static let models: [any PersistentModel.Type] = [\(models)]
          \(declarations.source.replacing("import SwiftData", with: ""))
        }
        """
      source.add(Array(text.utf8), path: "V\(number).swift")
    }
    let plan = """
      enum Plan: SchemaMigrationPlan {
        static let schemas: [any VersionedSchema.Type] = [V0.self, V1.self]
        static let stages: [MigrationStage] = [.lightweight(fromVersion: V0.self, toVersion: V1.self)]
      }
      """
    source.add(Array(plan.utf8), path: "Plan.swift")
    let findings = SwiftDataReview(SwiftDataSchemas(source)).findings
    let names = findings.map { "\($0.rule) \($0.entity ?? "").\($0.property ?? "")" }
    #expect(Set(names) == found && names.count == found.count, "\(names)")
  }
}
