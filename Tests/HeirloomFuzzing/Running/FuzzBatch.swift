package import Foundation

package struct FuzzTally: Codable, Sendable {
  /// By the stage's number.
  package var counts: [Int] = Array(repeating: 0, count: FuzzStage.allCases.count)
  /// The longest time of an input, in milliseconds.
  package var slowest: Double = 0
  package var slowestInput: Int = 0
  /// The most memory of the process at once, in bytes.
  package var peakBytes: Int64 = 0
  /// With the number of the input.
  package var findings: [String] = []

  package init() {}

  package var total: Int { counts.reduce(0, +) }
  package var pastContainer: Int { total - counts[FuzzStage.container.rawValue] }

  package mutating func add(_ other: FuzzTally) {
    for index in counts.indices { counts[index] += other.counts[index] }
    if other.slowest > slowest { (slowest, slowestInput) = (other.slowest, other.slowestInput) }
    peakBytes = max(peakBytes, other.peakBytes)
    findings += other.findings
  }
}

/// A number of inputs that a reader gets in this process, one after the other.
package struct FuzzBatch {
  /// Processor time of an input, in seconds, which hardly depends on the other work of the machine.
  package static let timeLimit = 2
  /// Of a process, in bytes.
  package static let memoryLimit: Int64 = 256 << 20

  /// Of an input, including waits, in seconds.
  package static let waitLimit = 20

  private let target: FuzzTarget
  private let seed: UInt64
  private let folder: URL

  /// The folder's file `input` has the input that is being read, and `number` its number.
  package init(_ target: FuzzTarget, seed: UInt64, folder: URL) {
    self.target = target
    self.seed = seed
    self.folder = folder
  }

  /// If the process does nothing else, a slow input ends it, and its memory is checked.
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

  /// The system ends the process after the given seconds of work or of time; 0 for never.
  private func setAlarm(seconds: Int, waiting: Int) {
    alarm(UInt32(waiting))
    var timer = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: seconds, tv_usec: 0))
    // The work of all threads counts, and that of the system for them.
    #if canImport(Glibc)
      setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    #else
      setitimer(Int32(ITIMER_PROF), &timer, nil)
    #endif
  }

  static func processorSeconds() -> Double {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Resident memory; 0 where the system doesn't tell.
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
