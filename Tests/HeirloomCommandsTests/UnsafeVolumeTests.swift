import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// Volumes whose locks and renames can't be trusted.
struct UnsafeVolumeTests {
  static let kinds: [VolumeInformation.Kind] = [.network, .fileAllocationTable, .userSpace]

  @Test(arguments: kinds, FieldStore.Shape.allCases)
  func `such a volume is refused byte for byte unless the app insists`(
    kind: VolumeInformation.Kind, shape: FieldStore.Shape
  ) throws {
    let field = try FieldStore(shape)
    let directory = try TemporaryDirectory()
    let store = try field.place(in: directory.url)
    let bytes = field.bytes(at: store)
    let files = RoomyFiles(kind: kind)
    let history = try ModelHistory(contentsOf: field.models)
    var configuration = MigrationAssistant.Configuration()
    func migrate() throws -> MigrationOutcome {
      try MigrationAssistant(
        storeURL: store, modelController: ModelController(storeURL: store, files: files), history: history,
        configuration: configuration, files: files
      ).migrateStore()
    }
    let error = #expect(throws: MigrationAssistantError.self) { try migrate() }
    #expect(error?.code == "unfitLocation")
    #expect(error?.description.contains("can't be relied on") == true)
    #expect(field.bytes(at: store) == bytes)
    #expect(!FileManager.default.fileExists(atPath: store.path + ".heirloom"))
    configuration.allowsUnsafeVolume = true
    guard case .migrated = try migrate() else {
      Issue.record("expected a migration")
      return
    }
    field.checkMigrated(store)
  }
}
