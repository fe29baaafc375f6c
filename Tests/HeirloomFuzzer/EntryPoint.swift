import Foundation
import HeirloomFuzzing

/// The program that gives mutated inputs to every reader: see `.ci/fuzz` for the fuzzer that is guided by coverage.
///
/// ```
/// HeirloomFuzzer [--inputs N] [--seed S] [TARGET …]      all of it, in processes of its own
/// HeirloomFuzzer --number TARGET S NUMBER [FILE]         one input, written to a file first
/// HeirloomFuzzer --file TARGET FILE                      an input from a file
/// HeirloomFuzzer --hostile FOLDER                        the stores with hostile schemas, to try the tool on by hand
/// ```
@main
struct EntryPoint {
  static func main() throws {
    #if LIBFUZZER
      CoverageGuidance.run()
    #else
      do {
        try run(Array(CommandLine.arguments.dropFirst()))
      } catch {
        FileHandle.standardError.write(Data("HeirloomFuzzer: \(error)\n".utf8))
        exit(1)
      }
    #endif
  }

  private static func run(_ words: [String]) throws {
    switch words.first {
    case "--batch": try runBatch(words)
    case "--number":
      let (target, seed, number) = (try target(words, 1), try number(words, 2), try number(words, 3))
      let folder = try FuzzFolder()
      let input = try FuzzInputs(for: target, seed: UInt64(seed), folder: folder.url).input(number)
      if words.count > 4 { try Data(input).write(to: URL(fileURLWithPath: words[4])) }
      try read(input, by: target, folder)
    case "--file":
      let target = try target(words, 1)
      guard words.count > 2 else { throw FuzzFinding("--file needs a reader and a file") }
      try read(Array(Data(contentsOf: URL(fileURLWithPath: words[2]))), by: target, FuzzFolder())
    case "--hostile":
      guard words.count > 1 else { throw FuzzFinding("--hostile needs a folder") }
      for (number, schema) in HostileSchema.all.enumerated() {
        let url = URL(fileURLWithPath: words[1]).appendingPathComponent("\(number + 10).sqlite")
        try HostileSchema.makeStore(at: url)
        try schema.apply(to: url)
        print(url.lastPathComponent, schema)
      }
    default: try runCampaign(words)
    }
  }

  private static func read(_ input: [UInt8], by target: FuzzTarget, _ folder: FuzzFolder) throws {
    let start = ContinuousClock.now
    let stage = try FuzzReader(target, folder: folder.url).read(input)
    print("\(input.count) bytes, \(stage), \(start.duration(to: .now))")
    withExtendedLifetime(folder) {}
  }

  private static func runBatch(_ words: [String]) throws {
    guard words.count == 6 else { throw FuzzFinding("--batch needs a reader, a seed, two numbers and a folder") }
    let batch = FuzzBatch(
      try target(words, 1), seed: UInt64(try number(words, 2)), folder: URL(fileURLWithPath: words[5]))
    let tally = try batch.run(try number(words, 3)..<number(words, 4), ownsProcess: true)
    try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(tally))
  }

  private static func runCampaign(_ words: [String]) throws {
    var (count, seed) = (100_000, 1)
    var targets: [FuzzTarget] = []
    var position = 0
    while position < words.count {
      switch words[position] {
      case "--inputs":
        count = try number(words, position + 1)
        position += 2
      case "--seed":
        seed = try number(words, position + 1)
        position += 2
      default:
        targets.append(try target(words, position))
        position += 1
      }
    }
    guard let executable = Bundle.main.executableURL else { throw FuzzFinding("this program doesn't find itself") }
    let kept = executable.deletingLastPathComponent().appendingPathComponent("fuzz-findings")
    let campaign = FuzzCampaign(executable: executable, seed: UInt64(seed), findingsFolder: kept)
    let start = ContinuousClock.now
    let tallies = try campaign.run(targets.isEmpty ? FuzzTarget.allCases : targets, count: count)
    print(FuzzCampaign.table(tallies).joined(separator: "\n"))
    print(
      "seed \(seed), \(start.duration(to: .now).components.seconds) s; stages: where an input was refused, or accepted")
    var all = FuzzTally()
    for tally in tallies.values { all.add(tally) }
    guard all.findings.isEmpty else {
      throw FuzzFinding(
        "\(all.findings.count) findings; inputs that ended a process are in \(kept.path)\n"
          + all.findings.sorted().joined(separator: "\n"))
    }
    guard 2 * all.pastContainer >= all.total else { throw FuzzFinding("less than half came past the container") }
  }

  private static func target(_ words: [String], _ position: Int) throws -> FuzzTarget {
    guard words.indices.contains(position), let target = FuzzTarget(rawValue: words[position]) else {
      throw FuzzFinding("expected a reader: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return target
  }

  private static func number(_ words: [String], _ position: Int) throws -> Int {
    guard words.indices.contains(position), let number = Int(words[position]), number >= 0 else {
      throw FuzzFinding("expected a number after \(words[..<min(position, words.count)].joined(separator: " "))")
    }
    return number
  }
}
