import Foundation
import Heirloom
import HeirloomCompare
import HeirloomFormats
import HeirloomMapping

struct LargeModelRun {
  static let earlierStore = "Earlier.sqlite"
  static let laterStore = "Later.sqlite"

  private let earlier: ManagedObjectModel
  private let later: ManagedObjectModel
  private let source: [UInt8]
  private let compiled: [UInt8]
  private let snapshot: [UInt8]
  private let assistant: MigrationAssistant
  private let controller: ModelController

  /// `folder` has the stores of both versions.
  init(folder: String) throws {
    (earlier, later) = try BenchmarkModels.grown()
    source = BenchmarkModels.source(of: later)
    compiled = try ModelArchiveWriter.archive(later)
    snapshot = try ModelSnapshot(model: later).bytes(.compressed)
    let store = URL(fileURLWithPath: PathText.join(folder, Self.earlierStore))
    assistant = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store),
      history: ModelHistory(current: later, name: "2", earlier: [("1", earlier)]))
    controller = ModelController(storeURL: URL(fileURLWithPath: PathText.join(folder, Self.laterStore)))
  }

  /// Bytes that a step reads or writes; `nil` for other steps.
  func byteCount(of step: LargeModelBenchmark.Step) -> Int? {
    switch step {
    case .readSource: source.count
    case .readCompiled, .writeCompiled: compiled.count
    case .readSnapshot, .writeSnapshot, .archive: snapshot.count
    case .compare, .inferMapping, .plan: nil
    }
  }

  func prepare(_ step: LargeModelBenchmark.Step) throws {
    let path = controller.snapshotURL.path
    guard step == .archive, try POSIXFileOperations().status(of: path) != nil else { return }
    try POSIXFileOperations().unlink(path)
  }

  /// Returns a check of the result, to run after the clock has stopped.
  func perform(_ step: LargeModelBenchmark.Step) throws -> () throws -> Void {
    switch step {
    case .readSource:
      let found = try ModelSourceReader.read(source).model
      return { try expect(found == later, step) }
    case .readCompiled:
      let found = try ModelArchiveReader.read(compiled).model
      return { try expect(found.versionHashes() == later.versionHashes(), step) }
    case .readSnapshot:
      let found = try ModelSnapshot(bytes: snapshot).model
      return { try expect(found == later, step) }
    case .compare:
      let found = ModelDifference(from: earlier, to: later)
      return { try expect(!found.changes.isEmpty, step) }
    case .inferMapping:
      let found = MappingInference(from: earlier, to: later)
      return { try expect(found.obstacles.isEmpty, step) }
    case .plan:
      let found = try assistant.plan()
      return { try expect(found?.blockers.isEmpty == true, step) }
    case .writeCompiled:
      let found = try ModelArchiveWriter.archive(later)
      return { try expect(found == compiled, step) }
    case .writeSnapshot:
      let found = try ModelSnapshot(model: later).bytes(.compressed)
      return { try expect(try ModelSnapshot(bytes: found).model == later, step) }
    case .archive:
      let isWritten = try controller.archive(later)
      return { try expect(try isWritten && controller.snapshot()?.model == later, step) }
    }
  }

  private func expect(_ isRight: Bool, _ step: LargeModelBenchmark.Step) throws(BenchmarkError) {
    guard !isRight else { return }
    throw .differentContents(subject: step.title, expected: "what the later version is", found: "something else")
  }
}
