import Foundation
import Heirloom

/// Compares figures that hardly depend on the machine with their ceilings, to detect regressions.
struct PerformanceGuard {
  private let arguments: BenchmarkArguments
  private let work: BenchmarkFolder
  private var failures: [String] = []

  /// Throws ``BenchmarkError/overCeilings(_:)`` if any figure exceeds its ceiling.
  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws {
    var run = PerformanceGuard(arguments: arguments, work: work)
    let workloads = MigrationWorkload.allCases.filter { arguments.includes(.migration($0)) }
    let guardsFleet = arguments.only == nil || arguments.includes(.fleet)
    guard arguments.includes(.launch) || guardsFleet || !workloads.isEmpty else {
      throw BenchmarkError.usage("--guard has no ceilings for this: expected launch, fleet or some of W1 to W5.")
    }
    say(["", "measured", "at most", "left", "goal"])
    if arguments.only == nil {
      try run.checkSizes()
      try run.checkLibraries()
    }
    if let counter = try InstructionCounter() {
      if arguments.includes(.launch) { try run.checkWorks(with: counter) }
      if !workloads.isEmpty { try run.checkNotes(of: workloads, with: counter) }
      if guardsFleet { try run.checkInstructionsOfFleet(with: counter) }
    } else {
      say("instructions: skipped, Valgrind is not installed")
    }
    if !workloads.isEmpty { try run.checkRuns(of: workloads) }
    if guardsFleet { try run.showFleet() }
    guard run.failures.isEmpty else { throw BenchmarkError.overCeilings(run.failures) }
    say("All figures are within their ceilings.")
  }

  // MARK: The released tool, and an app

  private mutating func checkSizes() throws {
    let ceilings = [("heirloom-tool", GuardCeilings.toolSize), ("SmallestApp", GuardCeilings.appSize)]
    for (name, ceiling) in ceilings {
      guard let program = ReleasedProgram(name) else {
        Self.say("\(name): skipped, it was not built beside this tool")
        continue
      }
      if let bytes = try program.strippedBytes(in: try work.emptyFolder(name)) {
        check("\(name) without symbols", bytes, atMost: ceiling * 1_048_576, .bytes)
      } else {
        Self.say("\(name)'s size: skipped, there is no command that removes symbols")
      }
    }
  }

  private mutating func checkLibraries() throws {
    guard let tool = ReleasedProgram("heirloom-tool") else { return }
    guard let libraries = try tool.libraries() else {
      return Self.say("released tool's libraries: skipped, there is no command that lists them")
    }
    let ofFoundation = libraries.filter { $0.hasPrefix("libFoundation") || $0.hasPrefix("lib_Foundation") }
    check("shared libraries it loads", Double(libraries.count), atMost: GuardCeilings.libraries, .count)
    check("Foundation's among them", Double(ofFoundation.count), atMost: GuardCeilings.foundationLibraries, .count)
    Self.say("  " + ofFoundation.joined(separator: " "))
  }

  // MARK: Instructions

  private mutating func checkWorks(with counter: InstructionCounter) throws {
    let folder = try work.emptyFolder("counted")
    try CountedWork.prepare(in: folder)
    let counts = try CountedWork.count(with: counter, in: folder)
    for work in CountedWork.allCases {
      let ceiling = GuardCeilings.instructions(work) * 1e6
      check(work.title, counts[work] ?? .nan, atMost: ceiling, .instructions)
    }
    let ratio = try CountedAppending.count(with: counter, in: try work.emptyFolder("appending"))
    check("append to a list, by linking to its owner", ratio, atMost: GuardCeilings.appending, .times)
  }

  private mutating func checkNotes(of workloads: [MigrationWorkload], with counter: InstructionCounter) throws {
    let migrations = try CountedMigrations(in: work, seed: arguments.seed, counter: counter)
    let counts = try migrations.count(workloads)
    for workload in workloads {
      let (name, counted) = (workload.rawValue, counts[workload])
      let ceilings = GuardCeilings.migration(workload)
      if let ceiling = ceilings.instructions {
        check(
          "\(name): instructions a note by the limit's", counted?.ratio ?? .nan, atMost: ceiling, .times,
          goal: Self.goal(workload))
      }
      check(
        "\(name): instructions by the proven limit's", counted?.provenRatio ?? .nan,
        atMost: ceilings.provenInstructions, .times)
      check("\(name): at any size", counted?.fixed ?? .nan, atMost: ceilings.fixed * 1e6, .instructions)
    }
  }

  // MARK: Time and memory

  private mutating func checkRuns(of workloads: [MigrationWorkload]) throws {
    let migrations = try GuardedMigrations(in: work, seed: arguments.seed)
    var prepared = try migrations.makeCopies(rounds: arguments.rounds, named: "round0")
    for (index, workload) in workloads.enumerated() {
      let name = workload.rawValue
      let ceilings = GuardCeilings.migration(workload)
      let copies = prepared
      // The next workload's copies come to rest while this one's are measured.
      if index + 1 < workloads.count {
        prepared = try migrations.makeCopies(rounds: arguments.rounds, named: "round\((index + 1) % 2)")
      }
      var measured: GuardedMigrations.Measured?
      let (figures, overAtFirst) = try GuardRepetition.measure(rounds: arguments.rounds) { rounds in
        let isFirst = measured == nil
        let latest = try migrations.measure(
          workload, isFirst ? copies : try migrations.makeCopies(rounds: rounds, named: "again"))
        measured = latest
        return [
          figure(
            "\(name): processor time by the limit's", latest.ratio, atMost: ceilings.processor, .times,
            goal: Self.goal(workload)),
          figure(
            "\(name): by the proven limit's", latest.provenRatio, atMost: ceilings.provenProcessor, .times),
        ]
      }
      for figure in overAtFirst { Self.say("\(figure.sentence) It was measured again with more rounds:") }
      for figure in figures { check(figure) }
      guard let measured else { continue }
      checkDiskAndMemory(of: measured, workload, ceilings)
    }
  }

  private static func goal(_ workload: MigrationWorkload) -> Double {
    PerformanceGoals.ratio(workload, notes: PerformanceGoals.leastNotes)
  }

  private mutating func checkDiskAndMemory(
    of measured: GuardedMigrations.Measured, _ workload: MigrationWorkload, _ ceilings: GuardCeilings.Migration
  ) {
    let name = workload.rawValue
    if let syncs = measured.syncs {
      check("\(name): waits for the disk", syncs, atMost: ceilings.syncs, .count)
    } else {
      Self.say("\(name): waits for the disk: skipped, they aren't counted on this system")
    }
    guard let peak = measured.peakBytes, let larger = measured.peakBytesOfMany else {
      return Self.say("\(name): memory: skipped, this system doesn't tell its peak")
    }
    check(
      "\(name): peak of memory", max(peak, larger), atMost: ceilings.peak * 1_048_576, .bytes,
      goal: Double(PerformanceGoals.peakBytes(workload)))
    let growth = larger / max(peak, 1) - 1
    check("\(name): more with \(GuardCeilings.manyNotes) notes", growth, atMost: GuardCeilings.memoryGrowth, .part)
  }

  // MARK: Small stores

  private mutating func checkInstructionsOfFleet(with counter: InstructionCounter) throws {
    let counts = try CountedFleet.count(with: counter, seed: arguments.seed, in: work)
    let own = counts[.command] ?? .nan
    check(
      "fleet: instructions a store by the loop's", own / (counts[.loop] ?? .nan),
      atMost: GuardCeilings.fleetInstructions, .times)
    check(
      "fleet: by the loop's that checks", own / (counts[.checkedLoop] ?? .nan),
      atMost: GuardCeilings.fleetProvenInstructions, .times)
  }

  /// These figures depend on the machine.
  private mutating func showFleet() throws {
    let report = try FleetBenchmark.run(
      stores: GuardCeilings.fleetStores, jobCounts: [1], rounds: arguments.rounds, seed: arguments.seed, in: work)
    guard let run = report.runs.first else { return }
    check("fleet: processor time by the loop's", run.processorRatioToLimit, atMost: .infinity, .times)
    check(
      "fleet: processor time of a store", run.migration.processorSeconds, atMost: .infinity, .seconds,
      goal: PerformanceGoals.fleetProcessorSeconds)
    check(
      "fleet: time by the loop's that checks", run.ratioToProvenLimit, atMost: .infinity, .times,
      goal: 1 / PerformanceGoals.fleetSpeed)
  }

  // MARK: Comparing

  private func figure(
    _ subject: String, _ measured: Double, atMost ceiling: Double, _ unit: GuardedFigure.Unit, goal: Double? = nil
  ) -> GuardedFigure {
    GuardedFigure(subject, measured, atMost: ceiling * arguments.ceilingScale, unit, goal: goal)
  }

  private mutating func check(
    _ subject: String, _ measured: Double, atMost ceiling: Double, _ unit: GuardedFigure.Unit, goal: Double? = nil
  ) {
    check(figure(subject, measured, atMost: ceiling, unit, goal: goal))
  }

  private mutating func check(_ figure: GuardedFigure) {
    Self.say(figure.cells)
    if figure.isOver { failures.append(figure.sentence) }
  }

  private static func say(_ cells: [String]) {
    let widths = [43, 22, 22, 6, 14]
    let padded = zip(cells, widths).enumerated().map { column, cell in
      let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return column == 0 ? cell.0 + space : space + cell.0
    }
    say(padded.joined(separator: " "))
  }

  private static func say(_ line: String) {
    // Unbuffered, because `print` would buffer lines in a pipe, and errors would overtake them.
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
