import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// Set-aside stores that return to their place, by the vault alone.
struct VaultAdoptingTests {
  private func makeScene(refusesLinks: Bool = false) throws -> (fixture: VaultFixture, name: String) {
    let fixture = try VaultFixture(.rollback, rows: 5, externalFiles: 1)
    _ = try fixture.vault(FaultyFiles(refusesLinks: refusesLinks)).setStoreAside(notice: [1])
    let new = try VaultFixture(.rollback, rows: 3)
    try POSIXFileOperations().copyFile(
      new.location.path, to: fixture.location.path, attributes: FileAttributes(mode: 0o640))
    return (fixture, try #require(try fixture.vault().setAsideStores().first).name)
  }

  @Test(arguments: [false, true])
  func `a set returns once, and what it replaces is kept`(_ refusesLinks: Bool) throws {
    let (fixture, name) = try makeScene(refusesLinks: refusesLinks)
    let vault = fixture.vault(FaultyFiles(refusesLinks: refusesLinks))
    guard case .adopted(let previous?) = try vault.adopt(name) else {
      Issue.record("expected that a store was replaced")
      return
    }
    #expect(try fixture.content().rows.count == 5)
    #expect(fixture.externalNames() == ["FILE-0"])
    #expect(try fixture.content(previous.storePath).rows.count == 3)
    #expect(previous.manifest?.isPinned == true)
    #expect(try fixture.leftovers() == [])
    let set = try #require(try vault.setAsideStores().first)
    #expect(set.adoption == ReturnRecord(time: previous.name.time, replaced: previous.name.text))
    #expect(try fixture.content(set.storePath(named: "Journal.sqlite")).rows.count == 5)
    guard case .adoptedBefore(let adoption) = try vault.adopt(name) else {
      Issue.record("expected that it has returned before")
      return
    }
    #expect(adoption.replaced == previous.name.text)
  }

  @Test func `a version that holds rows of its own is never pruned, and no launch takes a lock for it`() throws {
    let (fixture, name) = try makeScene()
    guard case .adopted(let previous?) = try fixture.vault().adopt(name) else {
      Issue.record("expected that a store was replaced")
      return
    }
    _ = try #require(try fixture.migrate(fixture.vault()))
    let files = FaultyFiles(.matching { operation, _ in operation == .lock })
    #expect(try fixture.vault(files).prune(keeping: 1) == [])
    #expect(files.hits == 0)
    #expect(try fixture.vault().previousVersions().map(\.name).contains(previous.name))
  }

  @Test(arguments: [false, true], [FaultyFiles.Fault.once, FaultyFiles.Fault.forever])
  func `no store is created before another has taken the place of one that was set aside`(
    isRestored: Bool, fault: @Sendable (Int) -> FaultyFiles.Fault
  ) throws {
    let (template, name) = try makeScene()
    _ = try #require(try template.migrate(template.vault()))
    let version = try #require(try template.vault().previousVersions().first).name.text
    _ = try #require(try template.vault().setStoreAside(isReplaced: true))
    func isMissing(_ fixture: VaultFixture) throws -> Bool {
      do {
        _ = try fixture.vault().createStore { _ in throw CocoaError(.featureUnsupported) }
        return false
      } catch VaultError.storeMissing {
        return true
      } catch is CocoaError {
        return false
      }
    }
    #expect(try isMissing(template))
    var number = 1
    while true {
      let fixture = try VaultFixture(copyOf: template)
      let files = FaultyFiles(fault(number))
      var failure: (any Error)?
      do {
        if isRestored {
          _ = try fixture.vault(files).restore(version)
        } else {
          _ = try fixture.vault(files).adopt(name)
        }
      } catch {
        failure = error
      }
      let isThere = FileManager.default.fileExists(atPath: fixture.location.path)
      if !isThere {
        #expect(try isMissing(fixture), "\(files.calls.last!) of \(number): \(String(describing: failure))")
      }
      if files.hits == 0 {
        #expect(failure == nil && isThere)
        #expect(try fixture.content().rows.count == (isRestored ? 3 : 5))
        break
      }
      number += 1
    }
    #expect(number > 20)
  }

  @Test(arguments: [FaultyFiles.Fault.once, FaultyFiles.Fault.forever])
  func `a store that is set aside to be replaced is there, or missing, after each fault`(
    fault: @Sendable (Int) -> FaultyFiles.Fault
  ) throws {
    let (template, name) = try makeScene()
    var (number, missing) = (1, 0)
    while true {
      let fixture = try VaultFixture(copyOf: template)
      let files = FaultyFiles(fault(number))
      _ = try? fixture.vault(files).setStoreAside(isReplaced: true)
      do {
        #expect(try !fixture.vault().createStore { _ in throw CocoaError(.featureUnsupported) }, "call \(number)")
        #expect(try fixture.content().rows.count == 3)
      } catch VaultError.storeMissing {
        missing += 1
        // The set can return from here, and a person may begin anew instead.
        if number % 2 == 0 {
          _ = try fixture.vault().adopt(name)
          #expect(try fixture.content().rows.count == 5)
        } else {
          #expect(try fixture.vault().repair()?.contains("missing") == true)
          #expect(throws: CocoaError.self) {
            try fixture.vault().createStore { _ in throw CocoaError(.featureUnsupported) }
          }
        }
      }
      if files.hits == 0 { break }
      number += 1
    }
    #expect(number > 50 && missing > 10, "\(missing) of \(number)")
  }

  @Test func `what is no set can't return`() throws {
    let (fixture, _) = try makeScene()
    for name in ["", "..", "2026-11-23-10-15-00-00000000", "../previous"] {
      let error = #expect(throws: VaultError.self) { try fixture.vault().adopt(name) }
      guard case .unusableSetAsideStore = error else { throw try #require(error) }
    }
    #expect(try fixture.content().rows.count == 3)
  }

  @Test func `an app's own store, made while a set was returning, is not taken for the set`() throws {
    let (fixture, name) = try makeScene()
    try FileManager.default.removeItem(atPath: fixture.location.path)
    // The process dies when the candidate is complete.
    let files = FaultyFiles(.matching { operation, path in operation == .link && path.hasSuffix("Journal.sqlite") })
    #expect(throws: (any Error).self) { try fixture.vault(files).adopt(name) }
    let new = try VaultFixture(.rollback, rows: 7)
    try POSIXFileOperations().copyFile(
      new.location.path, to: fixture.location.path, attributes: FileAttributes(mode: 0o640))
    try fixture.vault().recover()
    #expect(try fixture.content().rows.count == 7)
    #expect(try fixture.vault().setAsideStores().first?.adoption == nil)
    #expect(try fixture.leftovers() == [])
    guard case .adopted(let previous?) = try fixture.vault().adopt(name) else {
      Issue.record("expected that a store was replaced")
      return
    }
    #expect(try fixture.content(previous.storePath).rows.count == 7)
    #expect(try fixture.content().rows.count == 5)
  }
}
