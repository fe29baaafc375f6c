import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping

/// The cost of a very large model without rows: reading, comparing, planning, archiving.
enum LargeModelBenchmark {
  /// The measured steps, in the order of a round.
  enum Step: String, Codable, CaseIterable {
    /// Reading the source that Xcode writes, from bytes.
    case readSource
    /// Reading the compiled model, from bytes.
    case readCompiled
    /// Reading a compressed snapshot, from bytes.
    case readSnapshot
    /// All differences between two versions.
    case compare
    /// Inferring a mapping between two versions.
    case inferMapping
    /// Planning for an empty store: its model is found, and the store is inspected.
    case plan
    /// Writing the compiled model, as bytes.
    case writeCompiled
    /// Writing a compressed snapshot, as bytes.
    case writeSnapshot
    /// Archiving the model beside its store, synced to the disk.
    case archive

    var title: String {
      switch self {
      case .readSource: "read the source (XML)"
      case .readCompiled: "read the compiled model (.mom)"
      case .readSnapshot: "read a snapshot"
      case .compare: "list what changed"
      case .inferMapping: "infer a mapping"
      case .plan: "plan for an empty store"
      case .writeCompiled: "make the compiled model"
      case .writeSnapshot: "make a snapshot"
      case .archive: "archive beside a store, synced"
      }
    }

    /// The goal for reading and comparing models, in seconds; `nil` for other steps.
    var goal: Double? {
      switch self {
      case .readSource, .readCompiled, .readSnapshot, .compare, .inferMapping: ModelBenchmark.goal
      case .plan, .writeCompiled, .writeSnapshot, .archive: nil
      }
    }
  }

  static let childName = "models"

  private static let processes = 5
  private static let roundsEach = 11

  struct Measured: Codable {
    var step: Step
    /// The seconds of each run; the first is the process's first.
    var seconds: [Double]
    /// The processor time of each run, in seconds.
    var processorSeconds: [Double]
    /// The bytes read or written; `nil` for other steps.
    var bytes: Int?
  }

  struct StepReport: Codable {
    var step: Step
    /// The median of the first runs of processes, in seconds.
    var firstSeconds: Double
    /// The median of all later runs, in seconds.
    var seconds: Double
    /// The shortest run, in seconds.
    var leastSeconds: Double
    /// The median processor time of all later runs, in seconds.
    var processorSeconds: Double
    /// The bytes read or written; `nil` for other steps.
    var bytes: Int?
    /// The goal, in seconds; `nil` if there is none.
    var goalSeconds: Double?
    /// True if the median of later runs meets the goal; `nil` without a goal.
    var isGoalMet: Bool?
  }

  struct Report: Codable {
    /// The number of entities in the later version.
    var entities: Int
    /// The number of attributes in the later version.
    var attributes: Int
    /// The number of relationships in the later version.
    var relationships: Int
    /// The number of runs of each step.
    var runs: Int
    /// The steps, in order.
    var steps: [StepReport]
  }

  // MARK: The parent

  /// Makes an empty store of either version and measures each step in several processes.
  static func run(in work: BenchmarkFolder) throws -> Report {
    let folder = try work.emptyFolder("models")
    defer { work.remove("models") }
    let (earlier, later) = try BenchmarkModels.grown()
    for (name, model) in [(LargeModelRun.earlierStore, earlier), (LargeModelRun.laterStore, later)] {
      try StoreGenerator.makeStore(of: model, at: PathText.join(folder, name))
    }
    var measured: [[Measured]] = []
    for _ in 0..<processes {
      measured.append(try ChildProcess.run(childName, [folder, String(roundsEach)], returning: [Measured].self))
    }
    return Report(
      entities: later.entities.count, attributes: later.entities.reduce(0) { $0 + $1.attributes.count },
      relationships: later.entities.reduce(0) { $0 + $1.relationships.count }, runs: processes * roundsEach,
      steps: Step.allCases.map { step in report(step, measured.flatMap { $0.filter { $0.step == step } }) })
  }

  private static func report(_ step: Step, _ runs: [Measured]) -> StepReport {
    let later = runs.flatMap { $0.seconds.dropFirst() }
    return StepReport(
      step: step, firstSeconds: runs.compactMap(\.seconds.first).median, seconds: later.median,
      leastSeconds: runs.flatMap(\.seconds).min() ?? 0,
      processorSeconds: runs.flatMap { $0.processorSeconds.dropFirst() }.median, bytes: runs.first?.bytes ?? nil,
      goalSeconds: step.goal, isGoalMet: step.goal.map { later.median <= $0 })
  }

  // MARK: The child

  /// Repeats all steps in turns and prints the times.
  static func runChild(_ words: [String]) throws {
    guard words.count == 2, let count = Int(words[1]), count > 0 else {
      throw BenchmarkError.usage("The run \(childName) needs a folder and a number.")
    }
    let run = try LargeModelRun(folder: words[0])
    var measured = Step.allCases.map {
      Measured(step: $0, seconds: [], processorSeconds: [], bytes: run.byteCount(of: $0))
    }
    for _ in 0..<count {
      for index in measured.indices {
        try run.prepare(measured[index].step)
        let watch = Stopwatch()
        let check = try run.perform(measured[index].step)
        measured[index].seconds.append(watch.seconds)
        measured[index].processorSeconds.append(watch.processorSeconds)
        try check()
      }
    }
    try ChildProcess.answer(measured)
  }
}
