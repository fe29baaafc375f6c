package import Foundation

/// What came of a number of inputs.
package struct FuzzTally: Codable, Sendable {
  /// How many inputs ended at each stage, by its number.
  package var counts: [Int] = Array(repeating: 0, count: FuzzStage.allCases.count)
  /// The longest time that an input took, in milliseconds.
  package var slowest: Double = 0
  /// The input that took it.
  package var slowestInput: Int = 0
  /// The most memory that the process had at once, in bytes.
  package var peakBytes: Int64 = 0
  /// What went wrong, by the number of the input.
  package var findings: [String] = []

  /// Creates a tally of nothing.
  package init() {}

  /// How many inputs there were.
  package var total: Int { counts.reduce(0, +) }
  /// How many inputs came past what the content is wrapped in.
  package var pastContainer: Int { total - counts[FuzzStage.container.rawValue] }

  /// Adds what came of other inputs.
  package mutating func add(_ other: FuzzTally) {
    for index in counts.indices { counts[index] += other.counts[index] }
    if other.slowest > slowest { (slowest, slowestInput) = (other.slowest, other.slowestInput) }
    peakBytes = max(peakBytes, other.peakBytes)
    findings += other.findings
  }
}

/// A number of inputs that are given to a reader in this process, one after the other.
package struct FuzzBatch {
  /// The longest that the processor may work on an input, in seconds: it hardly depends on what else the machine does.
  package static let timeLimit = 2
  /// The most memory that a process may have, in bytes.
  package static let memoryLimit: Int64 = 256 << 20

  /// The longest that an input may take, waiting included, in seconds.
  package static let waitLimit = 20

  private let target: FuzzTarget
  private let seed: UInt64
  private let folder: URL

  /// Creates a batch.
  ///
  /// - Parameters:
  ///   - target: The reader.
  ///   - seed: The seed of the inputs.
  ///   - folder: A folder for files; the input that is being read is in its file `input`, its number in `number`.
  package init(_ target: FuzzTarget, seed: UInt64, folder: URL) {
    self.target = target
    self.seed = seed
    self.folder = folder
  }

  /// Reads inputs.
  ///
  /// - Parameters:
  ///   - numbers: The inputs' numbers.
  ///   - ownsProcess: Whether the process does nothing else: an input that takes too long ends it, and its memory is looked at.
  /// - Returns: What came of them.
  /// - Throws: What keeps inputs from being made.
  package func run(_ numbers: Range<Int>, ownsProcess: Bool) throws -> FuzzTally {
    let inputs = try FuzzInputs(for: target, seed: seed, folder: folder)
    let reader = try FuzzReader(target, folder: folder)
    var tally = FuzzTally()
    for number in numbers {
      if ownsProcess { try note(Array("\(number)".utf8), in: "number") }
      let input = try inputs.input(number)
      if ownsProcess {
        try note(input, in: "input")
        setAlarm(
          seconds: target.commandCount * Self.timeLimit, waiting: target.commandCount * Self.waitLimit)
      }
      let start = Self.processorSeconds()
      do {
        tally.counts[try reader.read(input).rawValue] += 1
      } catch {
        tally.counts[FuzzStage.accepted.rawValue] += 1
        tally.findings.append("\(target) \(number): \(error)")
      }
      let time = 1000 * (Self.processorSeconds() - start)
      if ownsProcess { setAlarm(seconds: 0, waiting: 0) }
      if time > tally.slowest { (tally.slowest, tally.slowestInput) = (time, number) }
      guard ownsProcess else { continue }
      let peak = Self.peakBytes()
      if peak > Self.memoryLimit, tally.peakBytes <= Self.memoryLimit {
        tally.findings.append("\(target) \(number): \(peak >> 20) MiB of memory")
      }
      tally.peakBytes = max(tally.peakBytes, peak)
    }
    return tally
  }

  private func note(_ bytes: [UInt8], in name: String) throws {
    try Data(bytes).write(to: folder.appendingPathComponent(name))
  }

  /// Lets the system end the process after so many seconds of work or of time; 0 for never.
  private func setAlarm(seconds: Int, waiting: Int) {
    alarm(UInt32(waiting))
    var timer = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: seconds, tv_usec: 0))
    // Of all threads, in the system too.
    #if canImport(Glibc)
      setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    #else
      setitimer(Int32(ITIMER_PROF), &timer, nil)
    #endif
  }

  /// The time that the processors worked for this process.
  static func processorSeconds() -> Double {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The most memory that was resident at once; 0 where the system doesn't tell.
  private static func peakBytes() -> Int64 {
    guard let file = fopen("/proc/self/status", "re") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard text.hasPrefix("VmHWM:") else { continue }
      return text.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int64($0) }.map { $0 * 1024 } ?? 0
    }
    return 0
  }
}
