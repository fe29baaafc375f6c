import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing

/// A loss of power at each moment of the vault's own calls, with each legal state of the folders.
///
/// SQLite's writing is outside of this model: the store is a single file from the start, and the candidate's content counts
/// from its sync on.
struct VaultCrashTests {
  private static let rows: [[SQLiteValue]] = (try? VaultFixture(.rollback, rows: 3).content().rows) ?? []

  /// Looks at a state and says what is wrong.
  ///
  /// `isDone` tells that the operation had returned before the power failed.
  typealias Check = (_ fixture: VaultFixture, _ isDone: Bool) throws -> String?

  // MARK: Checks

  private func content(_ fixture: VaultFixture, _ path: String) -> VaultFixture.Content? {
    try? fixture.quietContent(path)
  }

  /// Whether a folder holds the whole old set.
  private func isWholeOldSet(_ fixture: VaultFixture, _ folder: String) -> Bool {
    let kept = content(fixture, folder + "/Journal.sqlite")
    return kept?.version == 1 && kept?.rows == Self.rows
      && fixture.exists(folder + "/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-0")
  }

  private func folders(_ path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).map { path + "/" + $0 }
  }

  /// The store is the old or the new one, and the next run brings it to the new one with the old one kept.
  private func checkMigration(_ fixture: VaultFixture, _ isDone: Bool) throws -> String? {
    let location = fixture.location
    // What an app sees that knows nothing of us. A journal that holds nothing harms nobody.
    for path in location.sideFiles where fixture.exists(path) {
      if try Data(contentsOf: fixture.url(path)).contains(where: { $0 != 0 }) { return "a side file is there" }
    }
    guard let seen = content(fixture, location.path) else { return "the store can't be read" }
    guard [1, 2].contains(seen.version), seen.rows == Self.rows else { return "the store is neither old nor new" }
    if seen.version == 2 {
      for path in location.sideFiles where fixture.exists(path) { return "the old store's “\(path)” is there" }
      guard folders(location.previous).contains(where: { isWholeOldSet(fixture, $0) }) else {
        return "the new store is there, and the old one is not"
      }
    }
    if isDone {
      if seen.version != 2 { return "what was reported as done is not" }
      if fixture.exists(location.manifest) { return "what was reported as finished is not" }
    }
    let names = try POSIXFileOperations().status(of: location.path)?.linkCount
    if !fixture.exists(location.manifest), names != 1 { return "the store has a second name that nobody knows of" }
    do {
      if try StoreVault.hasUnfinishedOperation(at: location) { try fixture.vault().recover() }
      try fixture.migrate(fixture.vault())
    } catch {
      return "the next run fails: \(error)"
    }
    let after = content(fixture, location.path)
    guard after?.version == 2, after?.rows == Self.rows else { return "the next run loses rows" }
    let versions = try fixture.vault().retainedVersions()
    for version in versions {
      guard version.manifest != nil, isWholeOldSet(fixture, version.path),
        try Data(contentsOf: fixture.url(version.path + "/model.json.gz")) == Data(VaultFixture.snapshot)
      else { return "a version is not whole" }
    }
    if versions.count != 1 { return "\(versions.count) versions were kept" }
    if try fixture.leftovers() != [] { return "left over: \(try fixture.leftovers())" }
    if fixture.externalNames() != ["FILE-0"] { return "external files: \(fixture.externalNames())" }
    if try POSIXFileOperations().status(of: location.path)?.linkCount != 1 { return "the store has two names" }
    return nil
  }

  /// The set is whole in its place or whole aside, also for an app that looks before we do.
  private func checkSettingAside(_ fixture: VaultFixture, _ isDone: Bool) throws -> String? {
    let location = fixture.location
    func isWhole() -> Bool {
      if let seen = content(fixture, location.path) {
        return seen.rows == Self.rows && fixture.externalNames() == ["FILE-0"]
      }
      return folders(location.incompatible).contains { isWholeOldSet(fixture, $0) }
    }
    guard isWhole() else { return "the set is nowhere whole" }
    if isDone, fixture.exists(location.path) { return "what was reported as done is not" }
    do {
      try fixture.vault().recover()
    } catch {
      return "recovery fails: \(error)"
    }
    guard isWhole() else { return "recovery loses it" }
    if try fixture.leftovers() != [] { return "left over: \(try fixture.leftovers())" }
    let aside = folders(location.incompatible).count
    if aside != (fixture.exists(location.path) ? 0 : 1) { return "\(aside) sets are aside" }
    return nil
  }

  /// The lost store is not there, or whole; the version it comes from stays; the next run puts it back.
  private func checkRestoring(_ fixture: VaultFixture, _ isDone: Bool) throws -> String? {
    let location = fixture.location
    if fixture.exists(location.path) {
      if fixture.exists(location.path + "-wal") { return "a -wal of the lost store is beside the new one" }
      let seen = content(fixture, location.path)
      guard seen?.version == 1, seen?.rows == Self.rows else { return "the store is not whole" }
      if fixture.externalNames() != ["FILE-0"] { return "an external file is missing" }
    } else if isDone {
      return "what was reported as done is not"
    }
    let lost = folders(location.incompatible).map { $0 + "/Journal.sqlite-wal" } + [location.path + "-wal"]
    guard lost.contains(where: { (try? Data(contentsOf: fixture.url($0))) == Data([7, 7]) }) else {
      return "the side file of the lost store is gone"
    }
    guard let version = try fixture.vault().retainedVersions().first, isWholeOldSet(fixture, version.path) else {
      return "the version is not whole"
    }
    do {
      _ = try fixture.vault().restore(version.name.text)
    } catch {
      return "the next run fails: \(error)"
    }
    if content(fixture, location.path)?.rows != Self.rows { return "the next run loses rows" }
    if try fixture.leftovers() != [] { return "left over: \(try fixture.leftovers())" }
    if try POSIXFileOperations().status(of: location.path)?.linkCount != 1 { return "the store has two names" }
    return nil
  }

  // MARK: States

  /// The choices of changes that last: all of them when they are few, else the ends, single ones, and a seeded sample.
  private func choices(_ count: Int) -> [[Bool]] {
    if count <= 6 {
      return (0..<(1 << count)).map { mask in (0..<count).map { mask >> $0 & 1 == 1 } }
    }
    var choices = [Array(repeating: false, count: count), Array(repeating: true, count: count)]
    for index in 0..<count {
      for value in [false, true] {
        var choice = Array(repeating: !value, count: count)
        choice[index] = value
        choices.append(choice)
      }
    }
    var seed: UInt64 = 88_172_645_463_325_252
    for _ in 0..<16 {
      choices.append(
        (0..<count).map { _ in
          seed ^= seed << 13
          seed ^= seed >> 7
          seed ^= seed << 17
          return seed & 1 == 1
        })
    }
    return choices
  }

  /// Calls a closure with each different state of a recording, until it returns something.
  private func firstState(
    _ initial: DiskModel, _ changes: [RecordedChange],
    _ body: (_ outcome: DiskModel.Outcome, _ index: Int) throws -> String?
  ) throws -> String? {
    var model = initial
    var seen: Set<DiskModel.Outcome> = []
    for index in 0...changes.count {
      // At the end equal states count again: more is promised then.
      if index == changes.count { seen = [] }
      for keepsData in [false, true] {
        for choice in choices(model.pending.reduce(0) { $0 + $1.count }) {
          let outcome = model.outcome(choice, keepsData: keepsData)
          guard seen.insert(outcome).inserted else { continue }
          if let found = try body(outcome, index) { return "after \(index) of \(changes.count) changes: \(found)" }
        }
      }
      if index < changes.count { model.apply(changes[index]) }
    }
    return nil
  }

  /// Checks each state of a recording.
  ///
  /// - Parameters:
  ///   - initial: The disk before.
  ///   - changes: The recording.
  ///   - promisesEnd: Whether the operation succeeded.
  ///   - good: States that were checked already, by this check; those checked now are added.
  ///   - check: What is checked.
  /// - Returns: What is wrong first, or `nil`.
  /// - Throws: What the check throws.
  private func firstFault(
    _ initial: DiskModel, _ changes: [RecordedChange], promisesEnd: Bool = true, good: inout Set<DiskModel.Outcome>,
    _ check: Check
  ) throws -> String? {
    try firstState(initial, changes) { outcome, index in
      let isDone = promisesEnd && index == changes.count
      guard good.insert(outcome).inserted || isDone else { return nil }
      let fixture = try VaultFixture(empty: ())
      try outcome.write(to: fixture.location.directory)
      return try check(fixture, isDone)
    }
  }

  private func record(
    _ shape: VaultFixture.Shape, refusesLinks: Bool = false, prepare: (VaultFixture) throws -> Void = { _ in },
    _ body: (VaultFixture, RecordingFiles) throws -> Void
  ) throws -> (initial: DiskModel, changes: [RecordedChange]) {
    let fixture = try VaultFixture(shape, rows: 3, externalFiles: 1)
    try prepare(fixture)
    let initial = try DiskModel(fixture.location.directory)
    let files = RecordingFiles(root: fixture.location.directory, refusesLinks: refusesLinks)
    try body(fixture, files)
    return (initial, files.changes)
  }

  // MARK: Tests

  @Test(arguments: [VaultFixture.Shape.rollback, .persistedJournal], [false, true])
  func `whatever instant the power fails, the store is the whole old or the whole new one`(
    _ shape: VaultFixture.Shape, _ refusesLinks: Bool
  ) throws {
    let (initial, changes) = try record(shape, refusesLinks: refusesLinks) { fixture, files in
      try fixture.migrate(fixture.vault(files))
    }
    var good: Set<DiskModel.Outcome> = []
    #expect(try firstFault(initial, changes, good: &good, checkMigration) == nil)
    #expect(good.count > 60, "only \(good.count) states were seen")
  }

  @Test(arguments: [false, true])
  func `the power may fail while an operation is given up`(_ refusesLinks: Bool) throws {
    struct Refusal: Error {}
    let (initial, changes) = try record(.rollback, refusesLinks: refusesLinks) { fixture, files in
      #expect(throws: Refusal.self) {
        try fixture.migrate(fixture.vault(files) { if case .retained = $0 { throw Refusal() } })
      }
    }
    var good: Set<DiskModel.Outcome> = []
    #expect(try firstFault(initial, changes, promisesEnd: false, good: &good, checkMigration) == nil)
    #expect(good.count > 60, "only \(good.count) states were seen")
  }

  @Test(arguments: [false, true])
  func `the power may fail again while the next run recovers`(_ refusesLinks: Bool) throws {
    let (initial, changes) = try record(.rollback, refusesLinks: refusesLinks) { fixture, files in
      try fixture.migrate(fixture.vault(files))
    }
    var states = 0
    // Numbers of files differ from one beginning to the next, so equal lists are not equal states.
    let found = try firstState(initial, changes) { outcome, _ in
      let fixture = try VaultFixture(empty: ())
      try outcome.write(to: fixture.location.directory)
      guard try StoreVault.hasUnfinishedOperation(at: fixture.location) else { return nil }
      let broken = try DiskModel(fixture.location.directory)
      let files = RecordingFiles(root: fixture.location.directory, refusesLinks: refusesLinks)
      try fixture.vault(files).recover()
      var good: Set<DiskModel.Outcome> = []
      defer { states += good.count }
      return try firstFault(broken, files.changes, promisesEnd: false, good: &good, checkMigration)
    }
    #expect(found == nil)
    #expect(states > 300, "only \(states) states were seen")
  }

  @Test(arguments: [false, true])
  func `the power may fail while a store is moved aside`(_ refusesLinks: Bool) throws {
    let (initial, changes) = try record(.rollback, refusesLinks: refusesLinks) { fixture, files in
      _ = try fixture.vault(files).setStoreAside()
    }
    var good: Set<DiskModel.Outcome> = []
    #expect(try firstFault(initial, changes, good: &good, checkSettingAside) == nil)
    #expect(good.count > 20, "only \(good.count) states were seen")
  }

  @Test(arguments: [false, true])
  func `the power may fail while a lost store is put back`(_ refusesLinks: Bool) throws {
    let (initial, changes) = try record(
      .rollback, refusesLinks: refusesLinks,
      prepare: { fixture in
        try fixture.migrate(fixture.vault())
        let files = POSIXFileOperations()
        try files.unlink(fixture.location.path)
        try files.unlink(fixture.location.support + "/_EXTERNAL_DATA/FILE-0")
        try Data([7, 7]).write(to: fixture.url(fixture.location.path + "-wal"))
      },
      { fixture, files in
        _ = try fixture.vault(files).restore("2")
      })
    var good: Set<DiskModel.Outcome> = []
    #expect(try firstFault(initial, changes, good: &good, checkRestoring) == nil)
    #expect(good.count > 20, "only \(good.count) states were seen")
  }

  @Test func `no sync is for show: without any one of them some state is wrong`() throws {
    let (initial, changes) = try record(.persistedJournal) { fixture, files in
      try fixture.migrate(fixture.vault(files))
    }
    var good: Set<DiskModel.Outcome> = []
    #expect(try firstFault(initial, changes, good: &good, checkMigration) == nil)
    let synchronizations = changes.indices.filter { changes[$0].isSynchronization }
    #expect(synchronizations.count == 13)
    for index in synchronizations {
      var mutant = changes
      if let left = changes[index].withoutSynchronization { mutant[index] = left } else { mutant.remove(at: index) }
      var known = good
      let fault = try firstFault(initial, mutant, good: &known, checkMigration)
      #expect(fault != nil, "without \(String(describing: changes[index]).prefix(120))")
    }
  }

  @Test func `no step may change places with a sync that it waits for`() throws {
    let (initial, changes) = try record(.persistedJournal) { fixture, files in
      try fixture.migrate(fixture.vault(files))
    }
    var good: Set<DiskModel.Outcome> = []
    #expect(try firstFault(initial, changes, good: &good, checkMigration) == nil)
    let commit = try #require(
      changes.firstIndex { if case .rename(_, "Journal.sqlite") = $0 { true } else { false } })
    // The rename before each of the syncs that come before it, but for those that the record alone needs.
    var found = 0
    for index in changes[..<commit].indices where changes[index].isSynchronization {
      var mutant = changes
      mutant.remove(at: commit)
      mutant.insert(changes[commit], at: index)
      var known = good
      if try firstFault(initial, mutant, good: &known, checkMigration) != nil { found += 1 }
    }
    #expect(found == changes[..<commit].count { $0.isSynchronization })
  }
}
