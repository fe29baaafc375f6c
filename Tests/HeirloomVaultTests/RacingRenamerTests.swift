import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// A person who swaps folders and links beside a store while the vault works there.
///
/// In every outcome, nothing elsewhere is read in, changed or removed, and the store is one of those that were put
/// there.
struct RacingRenamerTests {
  private let files = POSIXFileOperations(followsLinks: false)

  private static let duration: Duration = .seconds(LongTests.count(quick: 2, long: 600))

  private final class Renamer: Sendable {
    let isOver = Locked(false)
    let swaps = Locked(0)
    private let root: String
    private let outside: String

    init(_ root: String, outside: String) {
      self.root = root
      self.outside = outside
    }

    private func folders() -> [String] {
      let files = POSIXFileOperations(followsLinks: false)
      let companion = root + "/Journal.sqlite.heirloom"
      let support = root + "/.Journal_SUPPORT"
      var found = [companion + "/previous", companion + "/incoming", support + "/inner"]
      // The folder that may be a link is followed unless another user made it.
      if geteuid() == 0 { found.append(support + "/_EXTERNAL_DATA") }
      for folder in ["/previous", "/incoming", "/incompatible"] {
        for name in (try? files.names(in: companion + folder)) ?? [] {
          let path = companion + folder + "/" + name
          found += [path, path + "/.Journal_SUPPORT", path + "/.Journal_SUPPORT/_EXTERNAL_DATA"]
        }
      }
      return found
    }

    func run() {
      var random = SystemRandomNumberGenerator()
      while !isOver.withLock({ $0 }) {
        guard let path = folders().randomElement(using: &random) else { continue }
        // The folder leaves its place for a moment, in which a link to a similar one elsewhere has its name.
        let aside = root + "/aside"
        let link = root + "/link"
        _ = symlink(outside, link)
        if geteuid() == 0 { _ = lchown(link, 65_002, 65_002) }
        guard rename(path, aside) == 0 else { continue }
        _ = rename(link, path)
        for _ in 0..<Int.random(in: 0...200, using: &random) { sched_yield() }
        _ = unlink(path)
        if rename(aside, path) != 0 {
          // The vault made another one meanwhile: the contents of both are the vault's.
          _ = rename(aside, root + "/lost-\(UInt32.random(in: 0 ... .max, using: &random))")
        }
        swaps.withLock { $0 += 1 }
      }
    }
  }

  @Test func `whoever swaps folders meanwhile, nothing elsewhere is touched and the store is whole`() async throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 3)
    try FileManager.default.createDirectory(
      atPath: fixture.location.support + "/inner", withIntermediateDirectories: false)
    try Data([1]).write(to: fixture.url(fixture.location.support + "/inner/FILE-9"))
    let canaries = try QuickDirectory()
    // It resembles each of the folders: a store, a version, external data.
    for place in ["", "/_EXTERNAL_DATA", "/.Journal_SUPPORT", "/.Journal_SUPPORT/_EXTERNAL_DATA", "/inner"] {
      let folder = canaries.url.path + place
      if !place.isEmpty { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
      for name in [
        "FILE-0", "FILE-1", "FILE-2", "FILE-9", "NEW", "Journal.sqlite", "manifest.json", "lock", "model.json.gz",
      ] {
        try Data("a canary named \(name)".utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
      }
    }
    let before = try Self.picture(canaries.url.path)
    let outside = try Self.identities(canaries.url.path)
    let rows = try fixture.content().rows
    let renamer = Renamer(fixture.location.directory, outside: canaries.url.path)
    let thread = Thread { renamer.run() }
    thread.start()
    let end = ContinuousClock.now + Self.duration
    var (done, refused) = (0, 0)
    // On a busy machine the two may take long to meet.
    func hasRaced() -> Bool { done > 0 && refused > 0 && renamer.swaps.withLock { $0 } > 10 }
    var random = SystemRandomNumberGenerator()
    while ContinuousClock.now < end || !hasRaced() && ContinuousClock.now < end + .seconds(120) {
      do {
        let vault = fixture.vault()
        switch Int.random(in: 0..<5, using: &random) {
        case 0: try grow(fixture, vault)
        case 1: try vault.recover()
        case 2: _ = try vault.prune(keeping: 1)
        case 3:
          if let version = try vault.previousVersions().randomElement(using: &random) {
            _ = try vault.restore(version.name.text)
          }
        default: try vault.writeSnapshot([UInt8](repeating: 7, count: 100))
        }
        done += 1
      } catch {
        refused += 1
      }
      guard try Self.picture(canaries.url.path) == before else { break }
    }
    renamer.isOver.withLock { $0 = true }
    while !thread.isFinished { try await Task.sleep(for: .milliseconds(5)) }
    let swaps = renamer.swaps.withLock { $0 }
    #expect(try Self.picture(canaries.url.path) == before)
    #expect(hasRaced(), "\(done) done, \(refused) refused, \(swaps) swaps")
    // Nothing of it was linked or copied in.
    let inside = try Self.identities(fixture.location.directory)
    #expect(inside.isDisjoint(with: outside))
    #expect(try !Self.picture(fixture.location.directory).contains { $0.contains("a canary") })
    // The first rows are still there, whatever was added.
    let now = try fixture.content().rows
    #expect(now.count >= rows.count && Array(now.prefix(rows.count)) == rows)
    if LongTests.areOn { print("racing renamer: \(done) done, \(refused) refused, \(swaps) swaps") }
  }

  private func grow(_ fixture: VaultFixture, _ vault: StoreVault) throws {
    _ = try vault.replaceStore(
      prepare: { StoreReplacement() },
      build: { hold, candidate in try hold.duplicateStore(to: candidate) }, prove: { _, _ in })
  }

  private static func walk(_ folder: String, _ body: (String, FileStatus) throws -> Void) rethrows {
    let files = POSIXFileOperations()
    for name in (try? files.names(in: folder)) ?? [] {
      guard let status = try? files.status(of: folder + "/" + name) else { continue }
      try body(folder + "/" + name, status)
      if status.kind == .directory { try walk(folder + "/" + name, body) }
    }
  }

  private static func picture(_ folder: String) throws -> [String] {
    let files = POSIXFileOperations()
    var lines: [String] = []
    try walk(folder) { path, status in
      let text =
        status.kind == .regular ? String(decoding: try files.readStart(of: path, count: 64), as: UTF8.self) : ""
      lines.append(
        "\(path) \(status.identity.inode) \(status.linkCount) \(status.mode) \(status.owner) \(status.size) \(text)")
    }
    return lines
  }

  private static func identities(_ folder: String) throws -> Set<FileStatus.Identity> {
    var found: Set<FileStatus.Identity> = []
    walk(folder) { _, status in found.insert(status.identity) }
    return found
  }
}
