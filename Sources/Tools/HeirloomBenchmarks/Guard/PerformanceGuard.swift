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
    if arguments.only == nil { try run.checkPrograms() }
    let seed = arguments.seed
    if let counter = try InstructionCounter() {
      if arguments.includes(.launch) {
        run.check(try CountedWork.figures(with: counter, in: try work.emptyFolder("counted")))
        run.check([try CountedAppending.figure(with: counter, in: try work.emptyFolder("appending"))])
      }
      if !workloads.isEmpty {
        run.check(try CountedMigrations.figures(of: workloads, with: counter, seed: seed, in: work))
      }
      if guardsFleet { run.check(try GuardedFleet.instructions(with: counter, seed: seed, in: work)) }
    } else {
      say("instructions: skipped, Valgrind is not installed")
    }
    if !workloads.isEmpty { try run.checkRuns(of: workloads) }
    if guardsFleet { run.check(try GuardedFleet.times(rounds: arguments.rounds, seed: seed, in: work)) }
    guard run.failures.isEmpty else { throw BenchmarkError.overCeilings(run.failures) }
    say("All figures are within their ceilings.")
  }

  private mutating func checkPrograms() throws {
    for (name, ceiling) in [("heirloom-tool", GuardCeilings.toolSize), ("SmallestApp", GuardCeilings.appSize)] {
      guard let program = ReleasedProgram(name) else {
        Self.say("\(name): skipped, it was not built beside this tool")
        continue
      }
      if let bytes = try program.strippedBytes(in: try work.emptyFolder(name)) {
        check([GuardedFigure("\(name) without symbols", bytes, atMost: ceiling * 1_048_576, .bytes)])
      } else {
        Self.say("\(name)'s size: skipped, there is no command that removes symbols")
      }
    }
    guard let tool = ReleasedProgram("heirloom-tool") else { return }
    guard let libraries = try tool.libraries() else {
      return Self.say("released tool's libraries: skipped, there is no command that lists them")
    }
    let ofFoundation = libraries.filter { $0.hasPrefix("libFoundation") || $0.hasPrefix("lib_Foundation") }
    let foundationCount = Double(ofFoundation.count)
    check([
      GuardedFigure("shared libraries it loads", Double(libraries.count), atMost: GuardCeilings.libraries, .count),
      GuardedFigure("Foundation's among them", foundationCount, atMost: GuardCeilings.foundationLibraries, .count),
    ])
    Self.say("  " + ofFoundation.joined(separator: " "))
  }

  private mutating func checkRuns(of workloads: [MigrationWorkload]) throws {
    let migrations = try GuardedMigrations(in: work, seed: arguments.seed)
    var prepared = try migrations.makeCopies(rounds: arguments.rounds, named: "round0")
    for (index, workload) in workloads.enumerated() {
      var copies: RestingCopies? = prepared
      // The next workload's copies come to rest while this one's are measured.
      if index + 1 < workloads.count {
        prepared = try migrations.makeCopies(rounds: arguments.rounds, named: "round\((index + 1) % 2)")
      }
      var others: [GuardedFigure] = []
      let (times, overAtFirst) = try GuardRepetition.measure(rounds: arguments.rounds) { rounds in
        let figures = try migrations.measure(
          workload, try copies ?? migrations.makeCopies(rounds: rounds, named: "again"))
        (copies, others) = (nil, figures.others)
        return figures.times.map(scaled)
      }
      for figure in overAtFirst { Self.say("\(figure.sentence) It was measured again with more rounds:") }
      for figure in times + others.map(scaled) { checkScaled(figure) }
      if others.count < 3 {
        Self.say("\(workload.rawValue): waits for the disk or memory: skipped, this system doesn't report them")
      }
    }
  }

  private func scaled(_ figure: GuardedFigure) -> GuardedFigure { figure.scaled(by: arguments.ceilingScale) }

  private mutating func check(_ figures: [GuardedFigure]) {
    for figure in figures { checkScaled(scaled(figure)) }
  }

  private mutating func checkScaled(_ figure: GuardedFigure) {
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
