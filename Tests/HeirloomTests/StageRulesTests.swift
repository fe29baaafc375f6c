import Foundation
import Heirloom
import TestSupport
import Testing

/// The rules for stages, checked all at once when the manager is made.
struct StageRulesTests {
  typealias Violation = StagedMigrationError.Violation

  /// Makes stages in the notation of Core Data's users: `[1,2] 2>3 [3]`.
  static func stages(_ text: String) throws -> [StoreMigrationStage] {
    let nothing = try ManagedObjectModel(entities: [EntityDescription(name: "Thing")])
    func reference(_ version: Substring) -> ManagedObjectModelReference {
      ManagedObjectModelReference(model: nothing, versionChecksum: String(version))
    }
    return text.split(separator: " ").map { stage in
      let versions = stage.split(separator: ">")
      if versions.count == 2 {
        return CustomMigrationStage(migratingFrom: reference(versions[0]), to: reference(versions[1]))
      }
      return LightweightMigrationStage(stage.dropFirst().dropLast().split(separator: ",").map(String.init))
    }
  }

  private func violations(_ text: String, shipped: String? = nil) throws -> [Violation] {
    let stages = try Self.stages(text)
    let versions = shipped?.split(separator: " ").map { (name: "V\($0)", checksum: String($0)) }
    do throws(StagedMigrationError) {
      _ = try StagedMigrationManager(stages, versions: versions)
      return []
    } catch {
      return error.violations
    }
  }

  @Test(arguments: [
    "[1]", "[1,2,3]", "[1] [2] [3]", "1>2", "1>2 2>3", "1>2 [3]", "[1] 2>3", "[1] 2>3 [4]", "[1,2] 3>4 4>5 [6,7]",
    "1>2 [3,4]", "[1,4] 2>3", "1>2 [3] 4>5", "1>2 2>3 3>4", "2>3 [1,4]",
  ])
  func `stages in order are fine`(text: String) throws {
    #expect(try violations(text) == [])
  }

  @Test(arguments: [
    ("[1,2,3]", "1 2 3 4"), ("[1] 2>3", "1 2 3"), ("[1] 2>3", "1 2 3 4"), ("1>2 [3]", "1 2 3"), ("1>2 [3]", "1 2 3 4"),
    ("1>2 2>3", "1 2 3"), ("[1,4] 2>3", "1 2 3 4"),
    // This version was shipped again.
    ("[1] 2>3", "1 2 1 2 3"),
  ])
  func `stages in order are fine for an app with that history`(text: String, shipped: String) throws {
    #expect(try violations(text, shipped: shipped) == [])
  }

  @Test(arguments: [
    ("", [Violation.noStages]),
    ("[]", [.emptyStage(stage: "stage 1")]),
    ("1>1", [.standstill(stage: "stage 1")]),
    ("[1,1]", [.duplicateVersion(checksum: "1", stages: ["stage 1", "stage 1"])]),
    ("[1] [1]", [.duplicateVersion(checksum: "1", stages: ["stage 1", "stage 2"])]),
    ("[1] 1>2", [.duplicateVersion(checksum: "1", stages: ["stage 1", "stage 2"])]),
    ("1>2 [2]", [.duplicateVersion(checksum: "2", stages: ["stage 1", "stage 2"])]),
    ("1>2 [3] 2>4", [.duplicateVersion(checksum: "2", stages: ["stage 1", "stage 3"])]),
    (
      "1>2 1>3",
      [.duplicateVersion(checksum: "1", stages: ["stage 1", "stage 2"]), .gap(after: "stage 1", before: "stage 2")]
    ),
    ("1>2 3>4", [.gap(after: "stage 1", before: "stage 2")]),
    ("2>3 1>2", [.duplicateVersion(checksum: "2", stages: ["stage 1", "stage 2"]), .wrongOrder(stage: "stage 2")]),
    ("1>2 2>1", [.duplicateVersion(checksum: "1", stages: ["stage 1", "stage 2"]), .wrongOrder(stage: "stage 2")]),
    // All violations are reported together.
    (
      "[] 1>2 3>4 [4] 5>5",
      [
        .emptyStage(stage: "stage 1"), .standstill(stage: "stage 5"),
        .duplicateVersion(checksum: "4", stages: ["stage 3", "stage 4"]), .gap(after: "stage 2", before: "stage 3"),
      ]
    ),
  ])
  func `each broken rule is named`(text: String, expected: [Violation]) throws {
    #expect(try violations(text) == expected)
  }

  @Test(arguments: [
    ("[1,2]", "1 2 3 4", [Violation.missingVersion(checksum: "3", name: "V3")]),
    ("2>3", "1 2 3", [.missingVersion(checksum: "1", name: "V1")]),
    ("[3] 1>2", "1 2 3 4", [.wrongOrder(stage: "stage 1")]),
    ("[1,3] 2>4", "1 2 3 4", [.wrongOrder(stage: "stage 1")]),
    ("3>2 [1]", "1 2 3 4", [.wrongOrder(stage: "stage 1")]),
    ("3>4 [5] 1>2", "1 2 3 4 5 6", [.wrongOrder(stage: "stage 1"), .wrongOrder(stage: "stage 2")]),
  ])
  func `a history tells more`(text: String, shipped: String, expected: [Violation]) throws {
    #expect(try violations(text, shipped: shipped) == expected)
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence))
  func `stages are checked against the versions of a real history`() throws {
    let folder = Corpus.folder.appendingPathComponent("coredataplus/models/SampleModel.xcdatamodeld")
    let history = try ModelHistory(contentsOf: folder.appendingPathComponent("SampleModel3.xcdatamodel"))
    let checksums = try history.versionNames.map { try #require(try history.model(named: $0)).versionChecksum() }
    #expect(throws: Never.self) {
      try StagedMigrationManager([LightweightMigrationStage(checksums)], history: history)
    }
    let error = try #require(throws: StagedMigrationError.self) {
      try StagedMigrationManager([LightweightMigrationStage([checksums[1]])], history: history)
    }
    #expect(error.violations == [.missingVersion(checksum: checksums[0], name: history.versionNames[0])])
  }

  @Test func `every violation has Core Data's code, and a sentence that names the stage`() throws {
    let labelled = LightweightMigrationStage([], label: "first releases")
    let error = try #require(throws: StagedMigrationError.self) { try StagedMigrationManager([labelled]) }
    #expect(error.description.contains("stage 1 (first releases) names no version"))
    for (text, code) in [("1>2 3>4", 134504), ("2>1 1>2", 134060), ("", 134060)] {
      let error = try #require(throws: StagedMigrationError.self) { try StagedMigrationManager(Self.stages(text)) }
      #expect(error.coreDataCode == code, "\(text)")
    }
    #expect(try violations("3>2 [1]", shipped: "1 2 3 4").map(\.coreDataCode) == [134506])
  }
}
