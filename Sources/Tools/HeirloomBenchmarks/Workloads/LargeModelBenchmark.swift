import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping

/// The cost of a very large model without rows.
enum LargeModelBenchmark {
  /// In the order of a round.
  enum Step: String, Codable, CaseIterable {
    case readSource
    case readCompiled
    case readSnapshot
    case compare
    case inferMapping
    /// The store's model is found, and the store is inspected.
    case plan
    case writeCompiled
    case writeSnapshot
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

    /// In seconds; `nil` for steps that neither read nor compare models.
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
    /// The first is the process's first.
    var seconds: [Double]
    var processorSeconds: [Double]
    /// Read or written; `nil` for other steps.
    var bytes: Int?
  }

  struct StepReport: Codable {
    var step: Step
    /// The median of the first runs of processes.
    var firstSeconds: Double
    /// The median of all later runs.
    var seconds: Double
    var leastSeconds: Double
    var processorSeconds: Double
    var bytes: Int?
    var goalSeconds: Double?
    /// True if the median of later runs meets the goal.
    var isGoalMet: Bool?
  }

  struct Report: Codable {
    var entities: Int
    var attributes: Int
    var relationships: Int
    var runs: Int
    var steps: [StepReport]
  }

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
