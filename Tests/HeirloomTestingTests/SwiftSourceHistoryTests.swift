import Foundation
import Heirloom
import HeirloomTesting
import TestSupport
import Testing

/// Histories of Swift source, in an app's own tests.
struct SwiftSourceHistoryTests {
  private static let source = """
    import SwiftData
    enum V1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Note.self] }
      @Model final class Note { var title: String = ""; init() {} }
    }
    enum V2: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [Note.self] }
      @Model final class Note { var title: String = ""; var stars: Int?; init() {} }
    }
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
      static var stages: [MigrationStage] { [STAGE] }
    }
    """

  private static func history(_ stage: String, in directory: TemporaryDirectory) throws -> ModelHistory {
    try Data(source.replacing("STAGE", with: stage).utf8).write(to: directory.file("Notes.swift"))
    return try ModelHistory(swiftSource: directory.url)
  }

  @Test func `the plan's versions migrate`() throws {
    let directory = try TemporaryDirectory()
    let history = try Self.history(".lightweight(fromVersion: V1.self, toVersion: V2.self)", in: directory)
    #expect(history.versionNames == ["V1", "V2"] && history.currentName == "V2")
    #expect(history.current.versionIdentifiers == ["2.0.0"])
    try history.expectMigrations()
    #expect(try ModelHistory(swiftSource: directory.url, named: "V1").currentName == "V1")
    #expect(throws: ModelReadingError.self) {
      try ModelHistory(swiftSource: directory.url, excluding: ["Notes.swift"])
    }
  }

  @Test func `a custom stage is migrated by the app's code, and not without`() throws {
    let directory = try TemporaryDirectory()
    var history = try Self.history(
      ".custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: nil)", in: directory)
    #expect(throws: (any Error).self) { try history.expectMigrations() }
    try history.step(from: "V1", to: "V2") { EntityMapping(from: "Note", to: "Note") }
    try history.expectMigrations()
  }
}
