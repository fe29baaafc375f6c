import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMigration
import TestSupport
import Testing

/// The ways in which a stage names a model, each with the checksum that catches an edited one.
struct ModelReferenceTests {
  private static func folder() throws -> (TemporaryDirectory, ManagedObjectModel) {
    let directory = try TemporaryDirectory()
    let model = try ManagedObjectModel(
      entities: [Make.entity("Item", [Make.attribute("name")])])
    try Data(ModelSnapshot(model: model).bytes(.readable)).write(to: directory.file("Second.json"))
    try Data("not a model".utf8).write(to: directory.file("Broken.json"))
    return (directory, model)
  }

  @Test func `finds a model in memory, in a file, by its name and by its hashes`() throws {
    let (directory, model) = try Self.folder()
    let checksum = model.versionChecksum()
    for reference in [
      ManagedObjectModelReference(model: model, versionChecksum: checksum),
      ManagedObjectModelReference(fileURL: directory.file("Second.json"), versionChecksum: checksum),
      ManagedObjectModelReference(name: "Second", inFolder: directory.url, versionChecksum: checksum),
      ManagedObjectModelReference(
        entityVersionHashes: model.versionHashes(), inFolder: directory.url, versionChecksum: checksum),
    ] {
      #expect(try reference.resolvedModel().versionHashes() == model.versionHashes(), "\(reference)")
    }
  }

  @Test func `says which model is missing, unreadable or edited`() throws {
    let (directory, model) = try Self.folder()
    let checksum = model.versionChecksum()
    for (reference, isEdited) in [
      (ManagedObjectModelReference(model: model, versionChecksum: "other"), true),
      (ManagedObjectModelReference(fileURL: directory.file("Second.json"), versionChecksum: "other"), true),
      (ManagedObjectModelReference(fileURL: directory.file("Nowhere.mom"), versionChecksum: checksum), false),
      (ManagedObjectModelReference(fileURL: directory.file("Broken.json"), versionChecksum: checksum), false),
      (ManagedObjectModelReference(name: "Third", inFolder: directory.url, versionChecksum: checksum), false),
      (ManagedObjectModelReference(name: "Second", inFolder: nil, versionChecksum: checksum), false),
      (
        ManagedObjectModelReference(entityVersionHashes: [:], inFolder: directory.url, versionChecksum: checksum), false
      ),
    ] {
      let error = try #require(throws: StagedMigrationError.self) { try reference.resolvedModel() }
      #expect(error.coreDataCode == 134504)
      guard let violation = error.violations.first else { throw error }
      switch violation {
      case .editedModel: #expect(isEdited, "\(reference)")
      case .unreadableModel: #expect(!isEdited, "\(reference)")
      default: throw error
      }
      #expect(error.description.contains("the model"))
    }
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence))
  func `finds the versions of a compiled bundle among the resources`() throws {
    let folder = Corpus.folder.appendingPathComponent("coredataplus/compiled")
    let momd = try #require(
      try FileManager.default.subpathsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".momd") })
    let list = try ModelVersionList(folder.appendingPathComponent(momd).path)
    let parent = folder.appendingPathComponent(momd).deletingLastPathComponent()
    for version in list.versions {
      let model = try version.file.read().model
      let checksum = model.versionChecksum()
      let named = ManagedObjectModelReference(name: version.name, inFolder: parent, versionChecksum: checksum)
      let hashed = ManagedObjectModelReference(
        entityVersionHashes: model.versionHashes(), inFolder: parent, versionChecksum: checksum)
      #expect(try named.resolvedModel().versionHashes() == model.versionHashes())
      #expect(try hashed.resolvedModel().versionHashes() == model.versionHashes())
    }
  }
}
