import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// Faults of each call of the file system, once and from then on: nothing is lost, and the next run completes.
struct VaultFaultTests {
  struct Setting: Sendable, CustomTestStringConvertible {
    var shape: VaultFixture.Shape
    var externalFiles = 0
    var refusesLinks = false
    var isSticky: Bool
    var code = EIO

    var testDescription: String {
      "\(shape), \(externalFiles) external, \(refusesLinks ? "copies" : "links"), \(isSticky ? "for ever" : "once")"
    }
  }

  static let settings: [Setting] = [false, true].flatMap { isSticky in
    [
      Setting(shape: .rollback, isSticky: isSticky),
      Setting(shape: .wal, externalFiles: 2, isSticky: isSticky, code: ENOSPC),
      Setting(shape: .persistedJournal, isSticky: isSticky),
      Setting(shape: .wal, externalFiles: 1, refusesLinks: true, isSticky: isSticky),
    ]
  }

  /// An app reads the store after a run that failed, before any recovery.
  private func checkOldOrNew(_ fixture: VaultFixture, _ old: VaultFixture.Content, _ note: Comment) throws -> Int64 {
    let content = try fixture.content()
    #expect(content.version == 1 || content.version == 2, note)
    #expect(content.rows == old.rows, note)
    return content.version
  }

  private func checkNextRun(
    _ fixture: VaultFixture, _ old: VaultFixture.Content, versionSeen: Int64, externalNames: [String], _ note: Comment
  ) throws {
    try fixture.addRow("written between the runs")
    let seen = try fixture.content()
    let previous = try fixture.migrate(fixture.vault(), addsExternalFile: true)
    // A swap that was made is not made again.
    #expect((previous == nil) == (versionSeen == 2), note)
    let after = try fixture.content()
    #expect(after.version == 2, note)
    #expect(after.rows == seen.rows, note)
    #expect(try fixture.leftovers() == [], note)
    let versions = try fixture.vault().previousVersions()
    #expect(versions.count == 1, note)
    for version in versions {
      let path = try #require(version.storePath, note)
      let kept = try fixture.content(path)
      #expect(kept.version == 1, note)
      // The previous version is the store at the moment of the swap, without the app's later rows.
      #expect(kept.rows == (versionSeen == 2 ? old.rows : seen.rows), note)
      #expect(try POSIXFileOperations().status(of: path)?.linkCount == 1, note)
      #expect(version.manifest != nil, note)
    }
    #expect(try POSIXFileOperations().status(of: fixture.location.path)?.linkCount == 1, note)
    #expect(fixture.externalNames() == externalNames, note)
  }

  /// The outcome of a run with faults: all that the checks after it depend on.
  private struct Outcome: Hashable {
    var failed: Bool
    var wasUnknown: Bool
    var state: VaultFixture.State
  }

  @Test(arguments: LongTests.selection(of: settings, every: 3))
  func `a fault at any call loses nothing, and the next run completes`(_ setting: Setting) throws {
    let template = try VaultFixture(setting.shape, rows: 12, externalFiles: setting.externalFiles)
    let content = try VaultFixture(copyOf: template).content()
    let old = VaultFixture.Content(version: 1, rows: content.rows, journalMode: nil)
    var checked: Set<Outcome> = []
    var number = 1
    while true {
      let note: Comment = "call \(number)"
      let fixture = try VaultFixture(copyOf: template)
      let files = FaultyFiles(
        setting.isSticky ? .forever(number) : .once(number), code: setting.code, refusesLinks: setting.refusesLinks)
      var failure: (any Error)?
      var wasUnknown = false
      do {
        try fixture.migrate(fixture.vault(files), addsExternalFile: true)
      } catch {
        failure = error
        if case VaultError.outcomeUnknown = error { wasUnknown = true }
      }
      if files.hits == 0 {
        #expect(failure == nil, note)
        break
      }
      number += 1
      // Many faults leave the same files: what the next run makes of them is checked once.
      let outcome = Outcome(failed: failure != nil, wasUnknown: wasUnknown, state: try fixture.state())
      guard checked.insert(outcome).inserted else {
        try fixture.checkLetGo(note)
        continue
      }
      let version = try checkOldOrNew(fixture, old, note)
      // If even the check of the rename fails, the outcome is unknown although the store is the old one.
      #expect(failure == nil ? version == 2 : version == 1 || wasUnknown, note)
      if failure != nil, !wasUnknown, !setting.isSticky {
        // After a single fault the vault can clean up, unless the fault hit the cleaning itself.
        #expect(try fixture.vault().previousVersions().isEmpty, note)
      }
      let external = (0..<setting.externalFiles).map { "FILE-\($0)" } + ["NEW"]
      try checkNextRun(fixture, old, versionSeen: version, externalNames: external, note)
    }
    #expect(number > 60 && checked.count > 10, "only \(number) calls and \(checked.count) outcomes were seen")
  }

  @Test func `a fault while an earlier fault is being recovered loses nothing either`() throws {
    let template = try VaultFixture(.rollback, rows: 3)
    let old = try VaultFixture(copyOf: template).content()
    var broken: Set<VaultFixture.State> = []
    var checked: Set<VaultFixture.State> = []
    var nested = 0
    var first = 0
    while true {
      first += 1
      let interrupted = try VaultFixture(copyOf: template)
      let files = FaultyFiles(.forever(first))
      _ = try? interrupted.migrate(interrupted.vault(files))
      if files.hits == 0 { break }
      // Nothing works any more after the fault: a recovery depends on the files alone, and many faults leave the same.
      guard try broken.insert(interrupted.state()).inserted else { continue }
      var second = 0
      while true {
        second += 1
        let note: Comment = "call \(first), then call \(second)"
        let fixture = try VaultFixture(copyOf: interrupted)
        let recovering = FaultyFiles(.forever(second))
        _ = try? fixture.vault(recovering).recover()
        nested += 1
        if try checked.insert(fixture.state()).inserted {
          let version = try checkOldOrNew(fixture, old, note)
          try checkNextRun(fixture, old, versionSeen: version, externalNames: version == 2 ? [] : ["NEW"], note)
        } else {
          try fixture.checkLetGo(note)
        }
        if recovering.hits == 0 { break }
      }
    }
    #expect(nested > 300 && broken.count > 10 && checked.count > 10, "\(nested) \(broken.count) \(checked.count)")
  }

  @Test func `when the sync after the rename fails, nothing is undone and the next run finishes`() throws {
    let fixture = try VaultFixture(.wal)
    let old = try VaultFixture(.wal).content()
    let directory = fixture.location.directory
    // The first sync of the folder is the hold's.
    let syncs = Counter()
    let files = FaultyFiles(
      .matching { operation, path in
        operation == .synchronizeDirectory && path == directory && syncs.next() == 2
      })
    let error = #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault(files)) }
    guard case .outcomeUnknown(let path, let underlying) = error else { throw try #require(error) }
    #expect(path == fixture.location.path)
    #expect(underlying.operation == .synchronizeDirectory)
    #expect(try StoreVault.hasUnfinishedOperation(at: fixture.location))
    #expect(fixture.exists(fixture.location.manifest))
    #expect(!fixture.exists(fixture.location.path + "-wal"))
    var events: [VaultEvent] = []
    try fixture.vault { events.append($0) }.recover()
    #expect(events.contains { if case .recovered(.rolledForward, _) = $0 { true } else { false } })
    #expect(try fixture.leftovers() == [])
    #expect(try fixture.content().version == 2)
    #expect(try fixture.vault().previousVersions().map { try fixture.content($0.storePath).rows } == [old.rows])
  }

  @Test func `a rename that fails leaves the old store`() throws {
    let fixture = try VaultFixture(.wal)
    let old = try VaultFixture(.wal).content()
    let store = "/" + fixture.location.name
    let files = FaultyFiles(.matching { operation, path in operation == .rename && path.hasSuffix(store) })
    var events: [VaultEvent] = []
    #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault(files) { events.append($0) }) }
    #expect(!events.contains { if case .journalModeNotRestored = $0 { true } else { false } })
    #expect(try fixture.leftovers() == [])
    #expect(old.journalMode == "wal")
    #expect(try fixture.content() == old)
  }
}

final class Counter: Sendable {
  private let count = Locked(0)

  func next() -> Int {
    count.withLock { value in
      value += 1
      return value
    }
  }
}
