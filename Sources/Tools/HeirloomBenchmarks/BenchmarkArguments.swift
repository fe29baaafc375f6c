struct BenchmarkArguments: Hashable {
  /// `nil` if not given: some workloads have sizes of their own.
  var noteCounts: [Int]?
  var sizes: [Int] { noteCounts ?? [Self.defaultNotes] }
  var notes: Int { sizes.first ?? Self.defaultNotes }
  var roundCount: Int?
  /// For workloads whose single runs vary much.
  var rounds: Int { roundCount ?? 5 }
  var storeCount: Int?
  var jobCounts: [Int]?
  var seed: UInt64 = 1
  /// `nil` for all.
  var only: [BenchmarkWorkload]?
  /// `nil` for the system's temporary folder.
  var directory: String?
  var comparesBuilders = false
  var printsJSON = false
  var plotPath: String?
  var guards = false
  var ceilingScale = 1.0
  var models: [String] = []
  var printsUsage = false
  var child: [String]?

  /// The smallest size with performance goals.
  static let defaultNotes = 100_000

  func at(notes: Int) -> BenchmarkArguments {
    var arguments = self
    arguments.noteCounts = [notes]
    return arguments
  }

  static let usage = """
    usage: HeirloomBenchmarks [--notes N,…] [--stores N] [--jobs N,…] [--rounds R] [--seed S] [--only WORKLOAD,…] [--builders] [--directory DIR] [--json] [--svg FILE] [--models A B]
           HeirloomBenchmarks --guard [--only WORKLOAD,…] [--ceilings PERCENT]
      --notes N        notes in the store that is migrated (100000), or several sizes one after another, as in
                       10000,100000,1000000,5000000; free space needed: 2.5 GB a million notes of the largest
      --stores N       small stores that are migrated together, for fleet (10000)
      --jobs N         how many of them at a time, as in 1,8 (1,2,4)
      --rounds R       runs of each way, interleaved (5; for fleet 1)
      --seed S         seed of the generated stores; the same seed gives the same bytes (1)
      --only WORKLOAD  some of \(BenchmarkWorkload.names(isOnRequest: false));
                       or of those that are run only then: \(BenchmarkWorkload.names(isOnRequest: true))
      --builders       also measures each builder, whichever Heirloom would choose
      --directory DIR  where stores are made: choose a folder on the file system to be measured
      --models A B     only reads two models and compares them
      --guard          compares ratios, memory, counted instructions and the released tool's size with their ceilings; fails if over
      --ceilings N     takes N percent of each ceiling, to see that the guard can fail (100)
      --json           one object on standard output: the machine, and a table for each workload and size, with
                       rows of figures, goals and whether they are met; times in seconds, sizes in bytes,
                       percentages as fractions
      --svg FILE       also plots the time of the migrations against the size of the store
    """

  init(_ words: [String]) throws(BenchmarkError) {
    var remaining = words[...]
    while let word = remaining.popFirst() {
      switch word {
      case "--notes":
        var counts: [Int] = []
        for part in try Self.parts(word, remaining.popFirst()) {
          let count = try Self.number(word, part, in: 1...10_000_000)
          if !counts.contains(count) { counts.append(count) }
        }
        noteCounts = counts
      case "--rounds": roundCount = try Self.number(word, remaining.popFirst(), in: 1...1000)
      case "--jobs":
        jobCounts = try Self.parts(word, remaining.popFirst()).map { part throws(BenchmarkError) in
          try Self.number(word, part, in: 1...64)
        }
      case "--stores": storeCount = try Self.number(word, remaining.popFirst(), in: 1...1_000_000)
      case "--seed": seed = try Self.number(word, remaining.popFirst(), in: 0...UInt64.max)
      case "--only":
        only = try Self.parts(word, remaining.popFirst()).map { name throws(BenchmarkError) in
          if let workload = BenchmarkWorkload(name) { return workload }
          throw .usage("--only \(name): expected some of \(BenchmarkWorkload.all.map(\.name).joined(separator: ", ")).")
        }
      case "--directory": directory = try Self.value(word, remaining.popFirst())
      case "--svg": plotPath = try Self.value(word, remaining.popFirst())
      case "--models":
        models = [try Self.value(word, remaining.popFirst()), try Self.value(word, remaining.popFirst())]
      case "--guard": guards = true
      case "--ceilings":
        ceilingScale = Double(try Self.number(word, remaining.popFirst(), in: 1...1000)) / 100
      case "--builders": comparesBuilders = true
      case "--json": printsJSON = true
      case "--help": printsUsage = true
      case ChildProcess.option:
        child = Array(remaining)
        return
      default: throw .usage("\"\(word)\" is no option.")
      }
    }
    if guards, printsJSON || plotPath != nil || noteCounts != nil {
      throw .usage("--guard has stores and a table of its own: expected no --notes, --json or --svg beside it.")
    }
    // Checked before anything is measured.
    if let plotPath, !MigrationWorkload.allCases.contains(where: { includes(.migration($0)) }) {
      throw .usage("--svg \(plotPath): there is nothing to plot without a migration; name one with --only, or none.")
    }
  }

  func includes(_ workload: BenchmarkWorkload) -> Bool { only.map { $0.contains(workload) } ?? !workload.isOnRequest }

  private static func value(_ option: String, _ word: String?) throws(BenchmarkError) -> String {
    guard let word, !word.isEmpty else { throw .usage("\(option) needs a value.") }
    return word
  }

  private static func parts(_ option: String, _ word: String?) throws(BenchmarkError) -> [String] {
    try value(option, word).split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  private static func number<Number: FixedWidthInteger>(
    _ option: String, _ word: String?, in range: ClosedRange<Number>
  ) throws(BenchmarkError) -> Number {
    let text = try value(option, word)
    guard let number = Number(text), range.contains(number) else {
      throw .usage("\(option) \(text): expected a number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }
}
