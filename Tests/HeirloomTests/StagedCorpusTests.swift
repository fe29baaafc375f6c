import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The staged migration that CoreDataPlus tests with Core Data, on its own store; and stages against the direct path.
///
/// Its stages are its `SampleModelVersion3`: a custom one that gives each user with a pet's name a pet, then a
/// lightweight one that lists the last version.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct StagedCorpusTests {
  private static let bundle = "coredataplus/models/SampleModel3.xcdatamodeld"
  private static let compiled = Corpus.folder.appendingPathComponent("coredataplus/compiled/SampleModel3.momd")
  private static let names = ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"]

  enum Naming: String, CaseIterable, Sendable {
    case memory, source, compiled, name, hashes
  }

  private let models: [ManagedObjectModel]
  private let checksums: [String]

  init() throws {
    let versions = try Corpus.versions(of: Self.bundle)
    models = try Self.names.map { name in try #require(versions.first { $0.name == name }).model }
    // The checksums are those that Xcode wrote into the compiled bundle.
    let file = try Data(contentsOf: Self.compiled.appendingPathComponent("VersionInfo.plist"))
    let list = try #require(try PropertyListSerialization.propertyList(from: file, format: nil) as? [String: Any])
    let known = try #require(list["NSManagedObjectModel_VersionChecksums"] as? [String: String])
    checksums = try Self.names.map { try #require(known[$0]) }
  }

  private func reference(_ index: Int, _ naming: Naming = .memory) -> ManagedObjectModelReference {
    let (name, checksum) = (Self.names[index], checksums[index])
    let folder = Self.compiled.deletingLastPathComponent()
    return switch naming {
    case .memory: ManagedObjectModelReference(model: models[index], versionChecksum: checksum)
    case .source:
      ManagedObjectModelReference(
        fileURL: Corpus.folder.appendingPathComponent("\(Self.bundle)/\(name).xcdatamodel"), versionChecksum: checksum)
    case .compiled:
      ManagedObjectModelReference(
        fileURL: Self.compiled.appendingPathComponent("\(name).mom"), versionChecksum: checksum)
    case .name: ManagedObjectModelReference(name: name, inFolder: folder, versionChecksum: checksum)
    case .hashes:
      ManagedObjectModelReference(
        entityVersionHashes: models[index].versionHashes(), inFolder: folder, versionChecksum: checksum)
    }
  }

  private func stages(_ naming: Naming = .memory) throws -> StagedMigrationManager {
    let custom = CustomMigrationStage(
      migratingFrom: reference(0, naming), to: reference(1, naming),
      label: "V1 to V2 (Add Pet entity and denormalize User entity)")
    custom.didMigrateHandler = { context in
      for user in try context.fetch("User") {
        guard let name = try user.string("petName") else { continue }
        let pet = try context.insert("Pet")
        try pet.set(name, for: "name")
        try user.setObject(pet, forRelationship: "pet")
      }
      try context.save()
    }
    let lightweight = LightweightMigrationStage([checksums[2]], label: "V2 to V3 (remove petName from User entity)")
    return try StagedMigrationManager(
      [custom, lightweight], versions: zip(Self.names, checksums).map { (name: $0, checksum: $1) })
  }

  private func migrate(
    _ url: URL, to current: ManagedObjectModel, earlier: [ManagedObjectModel], _ manager: StagedMigrationManager?
  ) throws -> MigrationReport {
    let history = ModelHistory(
      current: current, name: "current", earlier: earlier.enumerated().map { ("version \($0 + 1)", $1) })
    let assistant = MigrationAssistant(url, history, .withBothProofs)
    assistant.stagedManager = manager
    return try assistant.migrate()
  }

  private func copy(_ path: String, into directory: TemporaryDirectory, as name: String) throws -> URL {
    let copy = try Corpus.copyStore(path, to: directory)
    let url = directory.file(name)
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: copy.path + suffix) {
      try FileManager.default.moveItem(atPath: copy.path + suffix, toPath: url.path + suffix)
    }
    return url
  }

  @Test(arguments: Naming.allCases)
  func `each user's pet becomes an object, however the stages name their models`(_ naming: Naming) throws {
    try Corpus.withCopy(of: "coredataplus/stores/SampleModel3_V1.sqlite") { url in
      let before = try StoreContents(of: url, model: models[0])
      let report = try migrate(url, to: models[2], earlier: [models[0], models[1]], stages(naming))
      let after = try StoreContents(of: url, model: models[2])
      let users = try #require(after.objects["User"])
      let pets = try #require(after.objects["Pet"])
      let old = try #require(before.objects["User"])
      #expect(old.count == 12)
      #expect(users.count == 12)
      #expect(pets.count == 12)
      for (key, user) in users {
        #expect(user.values["name"] == old[key]?.values["name"])
        let pet = try #require(user.links["pet"]?.first)
        #expect(pets[pet]?.values["name"] == old[key]?.values["petName"])
        #expect(pets[pet]?.links["owner"] == [key])
      }
      // The previous version is the store of the project's repository.
      #expect(try StoreContents(of: report.previousVersion.storeURL, model: models[0]) == before)
      #expect(report.destinationChecksum == checksums[2])
    }
  }

  @Test func `one launch over all stages comes out as two`() throws {
    let directory = try TemporaryDirectory()
    let path = "coredataplus/stores/SampleModel3_V1.sqlite"
    let once = try copy(path, into: directory, as: "Once.sqlite")
    _ = try migrate(once, to: models[2], earlier: [models[0], models[1]], stages())
    let twice = try copy(path, into: directory, as: "Twice.sqlite")
    _ = try migrate(twice, to: models[1], earlier: [models[0]], stages())
    let between = try StoreContents(of: twice, model: models[1])
    #expect(
      between.objects["User"]?.values.allSatisfy { $0.values["petName"] != .null && $0.links["pet"] != nil } == true)
    _ = try migrate(twice, to: models[2], earlier: [models[0], models[1]], stages())
    #expect(try StoreContents(of: once, model: models[2]) == (try StoreContents(of: twice, model: models[2])))
  }

  /// Hops that need no code: the store, and the paths of the source and the destination model.
  static let steps: [(store: String, before: String, after: String)] = quickSteps + (LongTests.areOn ? longSteps : [])

  private static let quickSteps = [
    (
      "SampleModel_V1.sqlite", "models/SampleModel.xcdatamodeld/SampleModel.xcdatamodel",
      "models/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel"
    ),
    (
      "SampleModel_V2.sqlite", "compiled/modelcache/SampleModel_V2.sqlite.mom",
      "models/SampleModel.xcdatamodeld/SampleModel3.xcdatamodel"
    ),
    (
      "SampleModel3_V1.sqlite", "models/SampleModel3.xcdatamodeld/SampleModel3.xcdatamodel",
      "models/SampleModel3.xcdatamodeld/SampleModel3_v3.xcdatamodel"
    ),
  ]

  private static let longSteps = [
    (
      "SampleModel2_V1.sqlite", "compiled/modelcache/SampleModel2_V1.sqlite.mom",
      "compiled/modelcache/SampleModel2_V2.sqlite.mom"
    ),
    (
      "SampleModelV1@6739d000.sqlite", "compiled/modelcache/SampleModelV1@6739d000.sqlite.mom",
      "models/SampleModel.xcdatamodeld/SampleModel3.xcdatamodel"
    ),
  ]

  @Test(arguments: steps)
  func `without code, stages make what the direct way makes`(
    _ step: (store: String, before: String, after: String)
  ) throws {
    let directory = try TemporaryDirectory()
    let (before, after) = (try Self.model(step.before), try Self.model(step.after))
    let path = "coredataplus/stores/\(step.store)"
    let direct = try copy(path, into: directory, as: "Direct.sqlite")
    _ = try migrate(direct, to: after, earlier: [before], nil)
    let picture = try StorePicture(of: direct, model: after)

    let lightweight = LightweightMigrationStage([before.versionChecksum()])
    let custom = CustomMigrationStage(
      migratingFrom: ManagedObjectModelReference(model: before, versionChecksum: before.versionChecksum()),
      to: ManagedObjectModelReference(model: after, versionChecksum: after.versionChecksum()))
    // Code that changes nothing still runs.
    let runs = Locked(0)
    let idle = CustomMigrationStage(migratingFrom: custom.currentModel, to: custom.nextModel, label: "idle")
    idle.willMigrateHandler = { _ in runs.withLock { $0 += 1 } }
    idle.didMigrateHandler = { _ in runs.withLock { $0 += 1 } }
    for (number, stage) in [lightweight, custom, idle].enumerated() {
      let url = try copy(path, into: directory, as: "Staged\(number).sqlite")
      _ = try migrate(url, to: after, earlier: [before], try StagedMigrationManager([stage]))
      let staged = try StorePicture(of: url, model: after)
      // Each migration marks the store that it makes.
      let differences = StorePicture.differences(heirloom: staged, coreData: picture).filter {
        $0.place != .metadata(key: "HeirloomGeneration")
      }.map { difference in
        "\(difference.place): \(difference.heirloom ?? "nothing"), not \(difference.coreData ?? "nothing")"
      }
      #expect(differences == [], "stage \(number)")
    }
    #expect(runs.withLock { $0 } == 2)
  }

  private static func model(_ path: String) throws -> ManagedObjectModel {
    try ModelFile.read(Corpus.folder.appendingPathComponent("coredataplus").appendingPathComponent(path).path).model
  }
}
