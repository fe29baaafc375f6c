import Heirloom

struct ModelStep {
  let title: String
  /// In seconds; `nil` for steps that neither read nor compare models.
  var goal: Double? = PerformanceGoals.modelSeconds
  /// Read or written; `nil` for other steps.
  var byteCount: Int?
  var prepare: () throws -> Void = {}
  /// Returns a check of the result, to run after the clock has stopped.
  let perform: () throws -> () throws -> Bool

  static func measure(_ steps: [ModelStep], rounds: Int) throws -> [[Measurement]] {
    var runs: [[Measurement]] = steps.map { _ in [] }
    for _ in 0..<rounds {
      for (index, step) in steps.enumerated() {
        try step.prepare()
        let watch = Stopwatch()
        let isRight = try step.perform()
        runs[index].append(Measurement(watch))
        try BenchmarkError.require(
          try isRight(), step.title, expected: "what the later version is", found: "something else")
      }
    }
    return runs
  }

  /// `processes` has what each process measured; a process's first run isn't in the median.
  static func table(
    title: String, _ steps: [ModelStep], processes: [[[Measurement]]], remarks: [String] = []
  ) -> ReportTable {
    var rows: [ReportRow] = []
    var goals: [Goal] = []
    for (index, step) in steps.enumerated() {
      let later = processes.flatMap { $0[index].dropFirst() }
      let first = processes.compactMap { $0[index].first?.seconds }.median
      let size = step.byteCount.map { [Figure("bytes", Double($0), .count)] } ?? []
      rows.append(ReportRow(name: step.title, figures: later.times + [Figure("first", first, .seconds)] + size))
      if let goal = step.goal {
        goals.append(Goal(step.title, later.map(\.seconds).median, .seconds, atMost: goal))
      }
    }
    return ReportTable(
      workload: LargeModelBenchmark.childName, title: title, rows: rows, goals: goals, remarks: remarks)
  }
}

extension ManagedObjectModel {
  var sizeText: String {
    let attributes = entities.reduce(0) { $0 + $1.attributes.count }
    let relationships = entities.reduce(0) { $0 + $1.relationships.count }
    return "\(entities.count) entities, \(attributes) attributes, \(relationships) relationships"
  }
}
