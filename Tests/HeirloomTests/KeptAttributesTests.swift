import Foundation
import Heirloom
import TestSupport
import Testing

struct KeptAttributesTests {
  private static func left(_ listener: ClosureDelegate) -> [String] {
    listener.events.compactMap {
      if case .attributesLeftOut(let path, let count, let first) = $0 { "\(path) \(count) \(first)" } else { nil }
    }
  }

  private func migrate(
    _ store: URL, _ builder: MigrationPlan.Builder, hasCode: Bool, listener: ClosureDelegate,
    configuration: MigrationAssistant.Configuration = MigrationAssistant.Configuration()
  ) throws -> MigrationReport? {
    let source = try ManagedObjectModel(entities: [Make.entity("A", [Make.attribute("x")])])
    let between = try ManagedObjectModel(entities: [Make.entity("A", [Make.attribute("x"), Make.attribute("y")])])
    let current = try ManagedObjectModel(entities: between.entities + [Make.entity("B")])
    if !FileManager.default.fileExists(atPath: store.path) {
      try StoreGenerator.makeStore(at: store, model: source, objects: 20, seed: 2)
      return nil
    }
    var configuration = configuration
    if hasCode {
      configuration.mappings = try [(source, between), (between, current)].map { from, to in
        var mapping = try MappingModel.inferred(from: from, to: to)
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntityName != nil {
          mapping.entityMappings[index].mappingType = .custom
          mapping.entityMappings[index].entityMigrationPolicyClassName = "Standard"
        }
        return mapping
      }
      configuration.policies.register(EntityMigrationPolicy.self, named: "Standard")
    }
    let assistant = MigrationAssistant(
      store, ModelHistory(current: current, earlier: [("1", source), ("2", between)]), configuration,
      builder: .always(builder))
    assistant.delegate = listener
    guard case .migrated(let report) = try assistant.migrateStore() else { return nil }
    return report
  }

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter], [false, true])
  func `a migrated store has the attributes of its file, and a second run changes nothing`(
    _ builder: MigrationPlan.Builder, _ hasCode: Bool
  ) throws {
    let directory = try TemporaryDirectory(in: TemporaryDirectory.disk)
    let store = directory.file("Store.sqlite")
    let listener = ClosureDelegate()
    _ = try migrate(store, builder, hasCode: hasCode, listener: listener)
    try #require(ExtendedAttributes.set("user.heirloom", [1, 2], store.path), "no extended attributes on this volume")
    var configuration = MigrationAssistant.Configuration()
    configuration.excludesPreviousVersionsFromBackup = true
    let report = try #require(
      try migrate(store, builder, hasCode: hasCode, listener: listener, configuration: configuration))
    #expect(report.plan.warnings == [] && Self.left(listener) == [])
    #expect(ExtendedAttributes.value("user.heirloom", store.path) == [1, 2])
    #expect(ExtendedAttributes.value("user.heirloom", report.previousVersion.storeURL.path) == [1, 2])
    let mark = ExtendedAttributes.backupMark
    #expect(ExtendedAttributes.value(mark.name, store.path + ".heirloom/previous") == mark.value)
    let status = try POSIXFileOperations().status(of: store.path)
    #expect(try migrate(store, builder, hasCode: hasCode, listener: listener, configuration: configuration) == nil)
    #expect(try POSIXFileOperations().status(of: store.path) == status)
    #expect(ExtendedAttributes.value("user.heirloom", store.path) == [1, 2])
  }

  @Test(
    .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "no folder in memory"),
    arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `what can't be carried over is in the report`(_ builder: MigrationPlan.Builder) throws {
    let folder = URL(fileURLWithPath: "/dev/shm/heirloom-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appendingPathComponent("Store.sqlite")
    let listener = ClosureDelegate()
    _ = try migrate(store, builder, hasCode: false, listener: listener)
    let large = [UInt8](repeating: 3, count: 60_000)
    try #require(
      (0..<20).allSatisfy { ExtendedAttributes.set("user.\($0)", large, store.path) },
      "files in memory hold no MiB of attributes here")
    let report = try #require(try migrate(store, builder, hasCode: false, listener: listener))
    let warning = try #require(report.plan.warnings.first)
    #expect(report.plan.warnings.count == 1)
    #if canImport(Darwin)
      // All are given at once, or none.
      let (count, noun, name) = (1, "attribute", "the access list and the extended attributes")
    #else
      let (count, noun, name) = (3, "attributes", "user.")
    #endif
    #expect(
      warning.contains("lacks \(count) \(noun) of the original file, which could not be copied, such as \(name)"))
    let left = Self.left(listener)
    #expect(left.count == 1 && left[0].hasPrefix("\(store.path) \(count) \(name)"))
  }
}
