import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping

/// The cost of a very large model without rows: reading, comparing, planning, archiving.
enum LargeModelBenchmark {
  /// The steps that are measured, in the order of a round.
  enum Step: String, Codable, CaseIterable {
    /// The source that Xcode writes, from its bytes.
    case readSource
    /// The compiled model, from its bytes.
    case readCompiled
    /// A compressed snapshot, from its bytes.
    case readSnapshot
    /// All differences between two versions.
    case compare
    /// A mapping between two versions.
    case inferMapping
    /// The plan for an empty store: its model is found, and the store is inspected.
    case plan
    /// The compiled model, as bytes.
    case writeCompiled
    /// A compressed snapshot, as bytes.
    case writeSnapshot
    /// The model beside its store, synced to the disk.
    case archive

    /// The step in a few words.
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

    /// The most seconds that the design allows for reading and comparing models; `nil` for steps without a goal.
    var goal: Double? {
      switch self {
      case .readSource, .readCompiled, .readSnapshot, .compare, .inferMapping: ModelBenchmark.goal
      case .plan, .writeCompiled, .writeSnapshot, .archive: nil
      }
    }
  }

  /// The name of a run in a child process.
  static let childName = "models"

  private static let processes = 5
  private static let roundsEach = 11

  /// The measured values of one step in a child process.
  struct Measured: Codable {
    var step: Step
    /// The seconds of each run; the first is the process's first.
    var seconds: [Double]
    /// The processor time of each run, in seconds.
    var processorSeconds: [Double]
    /// The bytes that were read or made; `nil` for a step that has none.
    var bytes: Int?
  }

  /// The report on one step.
  struct StepReport: Codable {
    /// The step.
    var step: Step
    /// The median of the first runs of processes, in seconds.
    var firstSeconds: Double
    /// The median of all later runs, in seconds.
    var seconds: Double
    /// The shortest run, in seconds.
    var leastSeconds: Double
    /// The median processor time of all later runs, in seconds.
    var processorSeconds: Double
    /// The bytes that were read or made; `nil` for a step that has none.
    var bytes: Int?
    /// The most seconds that the design allows; `nil` for a step without a goal.
    var goalSeconds: Double?
    /// True when the median of the later runs is at most the goal; `nil` without one.
    var isGoalMet: Bool?
  }

  /// The report on all steps.
  struct Report: Codable {
    /// Entities of the later version.
    var entities: Int
    /// Attributes of the later version.
    var attributes: Int
    /// Relationships of the later version.
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

  /// Does every step many times, in turns, and answers with the times.
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
