import Foundation
import Heirloom
import TestSupport
import Testing

/// The two builders, compared with each other: they must make the same store of the same store.
struct BuilderTests {
  private static let isLong = ProcessInfo.processInfo.environment["HEIRLOOM_LONG_TESTS"] == "1"

  @Test(arguments: InferableChangeTests.changes, isLong ? [0, 1, 7, 40] : [0, 7])
  func `both builders make the same store of a generated one`(
    change: InferableChangeTests.Change, objects: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: change.before)
    let destination = try ManagedObjectModel(entities: change.after)
    let store = directory.file("Store.sqlite")
    var generator = StoreGenerator(objectsPerEntity: objects, seed: UInt64(objects) + 11)
    try generator.makeStore(at: store, model: source)
    let plan = try Self.compare(
      store, in: directory, history: ModelHistory(current: destination, earlier: [("1", source)]))
    #expect(plan != nil)
  }

  /// Migrates two copies of a store, one by each builder, and compares the results.
  ///
  /// - Parameters:
  ///   - store: The store; it is not changed.
  ///   - directory: Where the copies are made.
  ///   - history: The models.
  /// - Returns: The plan of the second builder; `nil` if both refuse.
  /// - Throws: What the files' system or SQLite throws.
  @discardableResult
  static func compare(_ store: URL, in directory: TemporaryDirectory, history: ModelHistory) throws -> MigrationPlan? {
    var contents: [FileContents] = []
    var refusals: [String] = []
    var plan: MigrationPlan?
    for builder in [MigrationPlan.Builder.rebuild, .cloneAndAlter] {
      let folder = directory.file(builder.rawValue)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let copy = folder.appendingPathComponent(store.lastPathComponent)
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
        try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy.path + suffix)
      }
      let assistant = MigrationAssistant(
        storeURL: copy, modelController: ModelController(storeURL: copy), history: history,
        configuration: MigrationAssistant.Configuration(), files: POSIXFileOperations(), builder: .always(builder))
      do {
        guard case .migrated(let report) = try assistant.migrateStore() else {
          Issue.record("expected a migration")
          return nil
        }
        #expect(report.plan.builder == builder)
        plan = report.plan
        contents.append(try FileContents(of: copy))
      } catch let error as MigrationAssistantError {
        switch error {
        case .mappingNeeded, .decisionNeeded: refusals.append("\(error)")
        default: Issue.record("\(builder): \(error)")
        }
      }
    }
    guard contents.count == 2 else {
      #expect(contents.isEmpty && refusals.count == 2)
      return nil
    }
    #expect(contents[0].differences(from: contents[1]).isEmpty)
    #expect(contents.allSatisfy { $0.header.last == "text(\"ok\")" })
    return plan
  }
}
