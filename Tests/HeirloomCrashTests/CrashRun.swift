import Foundation
import HeirloomMigration
import TestSupport

struct CrashTally: Sendable {
  var changes = 0
  var states = 0
  var statesTried = 0
  /// The number of moments with more states of names than are tried.
  var cuts = 0
  var nestedTried = 0
  var errorRuns = 0
  var faults: [String] = []
}

struct CrashRun {
  let world: CrashWorld
  private(set) var tally = CrashTally()
  private var known: [[DiskState.File]: StoreDump?] = [:]
  /// `nil` before the operation was recorded.
  private var calls: [Set<SystemTrace.Kind>]?
  private let stopsAtFirst: Bool

  init(_ scenario: CrashScenario, stopsAtFirst: Bool = false) throws {
    world = try CrashWorld(scenario)
    self.stopsAtFirst = stopsAtFirst
  }

  private var isOver: Bool { !tally.faults.isEmpty && (stopsAtFirst || tally.faults.count >= 5) }

  private struct Moment {
    var state: DiskState
    var promise: CrashWorld.Promise
    var number: Int
  }

  // MARK: Crash states

  /// Checks states in which a loss of power may leave the folder: `limit` of them, evenly chosen,
  /// or all.
  ///
  /// With `launches`, a second crash is tried: in the recovery from each state, and in the whole
  /// next launch from that number of states, evenly chosen.
  mutating func crash(mutant: ProtocolMutant? = nil, limit: Int? = nil, launches: Int? = nil) throws {
    let (changes, returned, calls) = try record(mutant: mutant)
    if mutant == nil { self.calls = calls }
    tally.changes = changes.count
    try crash(changes, returned: returned, limit: limit, launches: launches)
  }

  /// A mutant's error, or that of an operation that is to be given up, only makes `returned` false.
  func record(
    mutant: ProtocolMutant? = nil
  ) throws -> (changes: [SystemChange], returned: Bool, calls: [Set<SystemTrace.Kind>]) {
    let folder = try QuickFolder()
    try world.write(to: folder.path)
    let trace = try SystemTrace(root: folder.path, seed: 3)
    var returned = true
    do {
      try world.perform(in: folder.path, trace: trace, mutant: mutant)
    } catch {
      returned = false
      if mutant == nil, !world.scenario.isGivenUp { throw error }
    }
    trace.close()
    withExtendedLifetime(folder) {}
    return (trace.changes, returned, trace.calls)
  }

  mutating func crash(
    _ changes: [SystemChange], returned: Bool, limit: Int? = nil, launches: Int? = nil
  ) throws {
    var seen: Set<DiskState> = []
    let moments = moments(world.beginning, changes, returned: returned, seen: &seen)
    tally.states += moments.count
    // A fault shows soonest when the store is the new one, so a search for one fault begins at the end.
    let chosen = Self.choose(moments, limit)
    for moment in stopsAtFirst ? chosen.reversed() : chosen {
      let note = "after \(moment.number) of \(changes.count) changes"
      try check(moment, note: note)
      if isOver { return }
      if launches != nil, moment.promise == .nothing {
        try crashAgain(moment, in: "recovery", limit: nil, seen: &seen, note: note) { world, folder, trace in
          try world.recover(in: folder, trace: trace)
        }
      }
      if isOver { return }
    }
    for moment in Self.evenly(moments.filter { $0.promise == .nothing }, launches ?? 0) {
      let note = "after \(moment.number) of \(changes.count) changes"
      try crashAgain(moment, in: "next launch", limit: limit, seen: &seen, note: note) { world, folder, trace in
        try world.goOn(in: folder, trace: trace)
      }
      if isOver { return }
    }
  }

  private static func choose(_ moments: [Moment], _ limit: Int?) -> [Moment] {
    guard let limit, moments.count > limit else { return moments }
    // The most is promised at the end.
    let last = moments.suffix(min(4, limit / 2))
    return evenly(moments.dropLast(last.count), limit - last.count) + last
  }

  private static func evenly(_ moments: [Moment], _ count: Int) -> [Moment] {
    guard moments.count > count else { return moments }
    return (0..<count).map { moments[(2 * $0 + 1) * moments.count / (2 * count)] }
  }

  private mutating func moments(
    _ beginning: DiskModel, _ changes: [SystemChange], returned: Bool, seen: inout Set<DiskState>
  ) -> [Moment] {
    var model = beginning
    var random = SplitMix64(seed: 11)
    var moments: [Moment] = []
    for number in 0...changes.count {
      if number > 0 { model.apply(changes[number - 1]) }
      let isEnd = number == changes.count && returned
      if number > 0, number < changes.count, changes[number - 1].isSynchronization { continue }
      // At the end, equal states count again: more is promised then.
      var new: Set<DiskState> = []
      let found =
        isEnd
        ? model.newStates(world.table, random: &random, seen: &new)
        : model.newStates(world.table, random: &random, seen: &seen)
      if found.wasCut { tally.cuts += 1 }
      moments += found.states.map { Moment(state: $0, promise: isEnd ? .all : .nothing, number: number) }
    }
    return moments
  }

  private mutating func check(_ moment: Moment, note: String) throws {
    let folder = try QuickFolder()
    try moment.state.write(to: folder.path, world.table)
    tally.statesTried += 1
    if let fault = world.firstFault(in: folder.path, promise: moment.promise, known: &known, state: moment.state) {
      tally.faults.append("\(note): \(fault)")
    }
    withExtendedLifetime(folder) {}
  }

  private mutating func crashAgain(
    _ moment: Moment, in name: String, limit: Int?, seen: inout Set<DiskState>, note: String,
    _ body: (_ world: CrashWorld, _ folder: String, _ trace: SystemTrace) throws -> Void
  ) throws {
    let folder = try QuickFolder()
    try moment.state.write(to: folder.path, world.table)
    let broken = try DiskModel(folder.path)
    let trace = try SystemTrace(root: folder.path, seed: 4)
    // An operation that is given up fails again.
    try? body(world, folder.path, trace)
    trace.close()
    withExtendedLifetime(folder) {}
    let changes = trace.changes
    let again = moments(broken, changes, returned: false, seen: &seen)
    for var nested in Self.choose(again, limit) {
      tally.nestedTried += 1
      nested.promise = .nothingAgain
      try check(nested, note: "\(note), then after \(nested.number) of \(changes.count) changes of the \(name)")
      if isOver { return }
    }
  }

  // MARK: Errors

  static let errors: [(name: String, lasts: Bool, code: Int32, kinds: Set<SystemTrace.Kind>)] = [
    ("EIO once", false, EIO, [.read, .grow, .name, .write, .synchronize]),
    ("EIO for ever", true, EIO, [.read, .grow, .name, .write, .synchronize]),
    ("ENOSPC once", false, ENOSPC, [.grow]),
    ("ENOSPC for ever", true, ENOSPC, [.grow]),
    ("EACCES once", false, EACCES, [.name]),
    ("EACCES for ever", true, EACCES, [.name]),
    ("failed fsync for ever", true, EIO, [.synchronize]),
  ]

  /// The errors of which each call meets at least one.
  private static let basicErrors: Set<String> = [
    "EIO once", "ENOSPC for ever", "EACCES once", "failed fsync for ever",
  ]

  /// Lets one call in `step` fail, with each error; without a step, one call with each of two
  /// errors.
  mutating func fail(every step: Int?, only name: String? = nil) throws {
    var random = SplitMix64(seed: UInt64(world.scenario.description.utf8.reduce(0) { $0 &* 31 &+ Int($1) }.magnitude))
    let first = random.below(Self.errors.count)
    let all = Self.errors.filter { error in
      name.map { $0 == error.name } ?? (world.scenario.triesAllErrors || Self.basicErrors.contains(error.name))
    }
    let errors = step != nil ? all : [first, first + 3].map { Self.errors[$0 % Self.errors.count] }
    let calls = try calls ?? record().calls
    for (name, lasts, code, kinds) in errors {
      func run(_ number: Int) throws -> (hits: Int, fault: String?) {
        let folder = try QuickFolder()
        defer { withExtendedLifetime(folder) {} }
        try world.write(to: folder.path)
        let trace = try SystemTrace(
          root: folder.path, fault: SystemTrace.Fault(number: number, lasts: lasts, code: code, kinds: kinds), seed: 3)
        var returned = true
        do { try world.perform(in: folder.path, trace: trace) } catch { returned = false }
        trace.close()
        if trace.hits == 0 { return (0, nil) }
        let fault = world.firstFault(
          in: folder.path, promise: returned && !world.scenario.isGivenUp ? .result : .nothing, known: &known)
        return (trace.hits, fault.map { "\(name), call \(number): \($0)" })
      }
      let count = calls.count { !$0.isDisjoint(with: kinds) }
      let numbers =
        step.map { Array(stride(from: 1 + random.below($0), through: max(1, count), by: $0)) } ?? [
          1 + random.below(count)
        ]
      for number in numbers {
        let (hits, fault) = try run(number)
        // Once a call has failed, the operation may end sooner than the whole one.
        guard hits > 0 else { continue }
        tally.errorRuns += 1
        if let fault { tally.faults.append(fault) }
        if isOver { return }
      }
    }
  }
}
