import Foundation
import Heirloom
import HeirloomCompare
import HeirloomFormats
import HeirloomMapping

/// The cost of a very large model without rows.
enum LargeModelBenchmark {
  static let childName = "models"

  private static let processes = 5
  private static let roundsEach = 11
  private static let earlierStore = "Earlier.sqlite"
  private static let laterStore = "Later.sqlite"

  static func run(in work: BenchmarkFolder) throws -> ReportTable {
    let folder = try work.emptyFolder("models")
    defer { work.remove("models") }
    let (earlier, later) = try BenchmarkModels.grown()
    for (name, model) in [(earlierStore, earlier), (laterStore, later)] {
      try StoreGenerator.makeStore(of: model, at: PathText.join(folder, name))
    }
    let measured = try (0..<processes).map { _ in
      try ChildProcess.run(childName, [folder, String(roundsEach)], returning: [[Measurement]].self)
    }
    return ModelStep.table(
      title: "models: \(later.sizeText); \(processes * roundsEach) runs of each, in turns",
      try steps(in: folder), processes: measured,
      remarks: ["first: in a new process; read and make: from and to bytes in memory"])
  }

  static func runChild(_ words: [String]) throws {
    guard words.count == 2, let count = Int(words[1]), count > 0 else {
      throw BenchmarkError.usage("The run \(childName) needs a folder and a number.")
    }
    try ChildProcess.answer(try ModelStep.measure(try steps(in: words[0]), rounds: count))
  }

  /// `folder` has the stores of both versions.
  private static func steps(in folder: String) throws -> [ModelStep] {
    let (earlier, later) = try BenchmarkModels.grown()
    let source = BenchmarkModels.source(of: later)
    let compiled = try ModelArchiveWriter.archive(later)
    let snapshot = try ModelSnapshot(model: later).bytes(.compressed)
    let store = URL(fileURLWithPath: PathText.join(folder, earlierStore))
    let assistant = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store),
      history: ModelHistory(current: later, name: "2", earlier: [("1", earlier)]))
    let controller = ModelController(storeURL: URL(fileURLWithPath: PathText.join(folder, laterStore)))
    return [
      ModelStep(title: "read the source (XML)", byteCount: source.count) {
        let found = try ModelSourceReader.read(source).model
        return { found == later }
      },
      ModelStep(title: "read the compiled model (.mom)", byteCount: compiled.count) {
        let found = try ModelArchiveReader.read(compiled).model
        return { found.versionHashes() == later.versionHashes() }
      },
      ModelStep(title: "read a snapshot", byteCount: snapshot.count) {
        let found = try ModelSnapshot(bytes: snapshot).model
        return { found == later }
      },
      ModelStep(title: "list what changed") {
        let found = ModelDifference(from: earlier, to: later)
        return { !found.changes.isEmpty }
      },
      ModelStep(title: "infer a mapping") {
        let found = MappingInference(from: earlier, to: later)
        return { found.obstacles.isEmpty }
      },
      // The store's model is found, and the store is inspected.
      ModelStep(title: "plan for an empty store", goal: nil) {
        let found = try assistant.plan()
        return { found?.blockers.isEmpty == true }
      },
      ModelStep(title: "make the compiled model", goal: nil, byteCount: compiled.count) {
        let found = try ModelArchiveWriter.archive(later)
        return { found == compiled }
      },
      ModelStep(title: "make a snapshot", goal: nil, byteCount: snapshot.count) {
        let found = try ModelSnapshot(model: later).bytes(.compressed)
        return { try ModelSnapshot(bytes: found).model == later }
      },
      ModelStep(
        title: "archive beside a store, synced", goal: nil, byteCount: snapshot.count,
        prepare: { try removeSnapshot(of: controller) }
      ) {
        let isWritten = try controller.archive(later)
        return { try isWritten && controller.snapshot()?.model == later }
      },
    ]
  }

  private static func removeSnapshot(of controller: ModelController) throws {
    let path = controller.snapshotURL.path
    if try POSIXFileOperations().status(of: path) != nil { try POSIXFileOperations().unlink(path) }
  }
}
