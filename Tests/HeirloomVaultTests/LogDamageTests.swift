import Foundation
import HeirloomStore
import HeirloomVault
import TestSupport
import Testing

/// A `-wal` that SQLite wrote, with one damage of each kind at each place.
///
/// The rows that were committed are known from writing them. Where SQLite reads other ones, a loss
/// must be reported; where it reads the same, none may be.
struct LogDamageTests {
  /// The use of a store before its process died.
  enum Use: CaseIterable, Sendable {
    /// Commits of one frame and of several.
    case commits
    /// Commits, some of them in the database already.
    case checkpointedInPart
    /// Commits, all of them in the database already.
    case checkpointed
    /// A log that began anew, with frames of its earlier use after the last one.
    case begunAnew
    /// A change too large for the cache at the end, which was never committed.
    case uncommitted
    /// A commit after such a change that was undone, whose other frames are still there.
    case undone
    /// A log that began anew and has become longer than before.
    case grown
  }

  /// The files that a dead process left, and its committed rows.
  private struct Scene {
    static let pageSize = 512
    static let frameSize = 24 + pageSize

    let database: [UInt8]
    let log: [UInt8]
    let rows: [[SQLiteValue]]
    var frameCount: Int { (log.count - 32) / Self.frameSize }

    init(_ use: Use) throws {
      let directory = try QuickDirectory()
      let path = directory.file("Journal.sqlite").path
      var options = Connection.Options()
      options.checkpointsOnClose = false
      let connection = try Connection(path: path, mode: .createExclusively(permissions: 0o640), options: options)
      try connection.execute("PRAGMA page_size=\(Self.pageSize)")
      try connection.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")
      try connection.execute("PRAGMA journal_mode=WAL")
      try connection.execute("PRAGMA wal_autocheckpoint=0")
      try connection.execute("PRAGMA cache_size=4")
      var number = 0
      func insert(_ count: Int, size: Int) throws {
        for _ in 0..<count {
          number += 1
          try connection.execute(
            "INSERT INTO note VALUES (?1, ?2)",
            [.integer(Int64(number)), .text(String(repeating: "row \(number) ", count: size))])
        }
      }
      func commit(_ count: Int, size: Int = 8) throws {
        try connection.execute("BEGIN")
        try insert(count, size: size)
        try connection.execute("COMMIT")
      }
      func checkpoint(_ mode: String) throws { _ = try connection.rows("PRAGMA wal_checkpoint(\(mode))") }
      try commit(4)
      try connection.execute("UPDATE note SET text = 'first' WHERE id = 1")
      var isOpen = false
      switch use {
      case .commits: try commit(2, size: 40)
      case .checkpointedInPart:
        // A reader keeps the later frames out of the database.
        let reader = try Connection(path: path, mode: .readOnly, options: options)
        try reader.execute("BEGIN")
        _ = try reader.rows("SELECT count(*) FROM note")
        try commit(2)
        try checkpoint("PASSIVE")
        try reader.execute("ROLLBACK")
        try reader.close()
        try commit(3)
        try connection.execute("UPDATE note SET text = 'second' WHERE id = 2")
      case .checkpointed:
        try commit(2)
        try checkpoint("PASSIVE")
      case .begunAnew:
        try commit(6, size: 40)
        try checkpoint("RESTART")
        try connection.execute("UPDATE note SET text = 'anew' WHERE id = 3")
        try commit(1)
      case .uncommitted:
        try connection.execute("BEGIN")
        try insert(40, size: 20)
        isOpen = true
      case .undone:
        try connection.execute("BEGIN")
        try insert(40, size: 20)
        try connection.execute("ROLLBACK")
        number = 4
        try commit(1)
      case .grown:
        try checkpoint("RESTART")
        try commit(4, size: 40)
        try connection.execute("UPDATE note SET text = 'grown' WHERE id = 2")
      }
      // A process that dies closes nothing.
      database = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
      if isOpen { try connection.execute("ROLLBACK") }
      rows = try connection.rows("SELECT * FROM note ORDER BY id")
      try connection.close()
    }

    /// A frame of an earlier use ends none.
    func endsCommit(_ frame: Int) -> Bool {
      let start = 32 + frame * Self.frameSize
      return log[start + 8..<start + 16].elementsEqual(log[16..<24])
        && log[start + 4..<start + 8].contains { $0 != 0 }
    }
  }

  private enum Damage {
    case none
    case flipped(Int)
    case zeroed(Range<Int>)
    case cut(Int)

    /// The frame whose header is gone.
    var blankedFrame: Int? {
      guard case .zeroed(let range) = self, range.count >= 24, range.upperBound > 56 || range.lowerBound == 32 else {
        return nil
      }
      let frame = max(0, range.lowerBound - 32) / Scene.frameSize
      return range.lowerBound <= 32 + frame * Scene.frameSize ? frame : nil
    }

    func apply(to log: [UInt8]) -> [UInt8] {
      var log = log
      switch self {
      case .none: break
      case .flipped(let index): log[index] ^= 0x41
      case .zeroed(let range): log.replaceSubrange(range, with: repeatElement(0, count: range.count))
      case .cut(let count): log.removeLast(log.count - count)
      }
      return log
    }
  }

  private static func damages(of scene: Scene) -> [Damage] {
    var all: [Damage] = [.none, .zeroed(0..<32), .zeroed(0..<512), .zeroed(0..<16), .cut(0), .cut(20), .cut(32)]
    all += (0..<32).map { .flipped($0) }
    let last = (0..<scene.frameCount).last { scene.endsCommit($0) } ?? 0
    let frames = (0..<scene.frameCount).filter { LongTests.areOn || $0 < 2 || $0 % 4 == 3 || abs($0 - last) < 2 }
    for frame in frames {
      let start = 32 + frame * Scene.frameSize
      all += [3, 7, 9, 13, 17, 22, 24, 200, Scene.frameSize - 1].map { .flipped(start + $0) }
      all += [
        .zeroed(start + 4..<start + 8), .zeroed(start + 8..<start + 16), .zeroed(start + 16..<start + 24),
        .zeroed(start..<start + 24), .zeroed(start..<start + Scene.frameSize), .zeroed(start + 24..<start + 100),
      ]
      all += [0, 4, 10, 16, 24, 300].map { .cut(start + $0) }
    }
    return all
  }

  /// `nil` where SQLite finds damage.
  private static func rows(at path: String) -> [[SQLiteValue]]? {
    guard let connection = try? Connection(path: path, mode: .readWrite),
      let check = try? connection.firstValue("PRAGMA integrity_check(1)")?.text, check == "ok"
    else { return nil }
    return try? connection.rows("SELECT * FROM note ORDER BY id")
  }

  @Test(arguments: Use.allCases)
  func `what SQLite doesn't read of the committed rows is told, and nothing else is`(_ use: Use) throws {
    let scene = try Scene(use)
    let directory = try QuickDirectory()
    let (store, copy) = (directory.file("Journal.sqlite"), directory.file("Copy.sqlite"))
    let vault = StoreVault(try StoreLocation(resolving: store.path, files: POSIXFileOperations()))
    try Data(scene.database).write(to: store)
    var lossCount = 0
    for damage in Self.damages(of: scene) {
      let log = damage.apply(to: scene.log)
      try Data(log).write(to: URL(fileURLWithPath: store.path + "-wal"))
      let lostCount = try vault.logDamage()?.lostCount ?? 0
      // SQLite changes the files that it opens.
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
      try Data(scene.database).write(to: copy)
      try Data(log).write(to: URL(fileURLWithPath: copy.path + "-wal"))
      let isLost = Self.rows(at: copy.path) != scene.rows
      lossCount += isLost ? 1 : 0
      let name: Comment = "\(use), \(damage): \(lostCount) frames"
      if case .cut(let count) = damage, isLost {
        // Of what was cut off nothing is there but, perhaps, the start of the frame that ends the commit.
        let (frame, rest) = (max(0, count - 32) / Scene.frameSize, (count - 32) % Scene.frameSize)
        #expect((lostCount > 0) == (count >= 40 && rest >= 8 && scene.endsCommit(frame)), name)
      } else if case .cut = damage, use == .checkpointed {
        // The database has a later state of the page than the frame that is cut; nothing shows that it is later.
      } else if let frame = damage.blankedFrame, !(frame + 1..<scene.frameCount).contains(where: scene.endsCommit) {
        // Nothing shows that a commit ended there.
        #expect(lostCount == 0 || isLost, name)
      } else if use == .undone, let last = (0..<scene.frameCount).last(where: scene.endsCommit),
        case .flipped(32 + (last + 1) * Scene.frameSize + 7) = damage
      {
        // The frame before it was written over, so that nothing shows if it ended a commit.
      } else if damage.blankedFrame != nil, use == .checkpointed {
        // Nothing shows which page it was.
      } else if isLost {
        #expect(lostCount > 0 && lostCount <= scene.frameCount, name)
      } else {
        #expect(lostCount == 0, name)
      }
    }
    #expect(lossCount > 0)
  }

  @Test func `the number of frames is that of the commits that SQLite doesn't reach`() throws {
    let scene = try Scene(.commits)
    let directory = try QuickDirectory()
    let store = directory.file("Journal.sqlite")
    try Data(scene.database).write(to: store)
    try Data(Damage.flipped(32 + 24 + 5).apply(to: scene.log)).write(to: URL(fileURLWithPath: store.path + "-wal"))
    let vault = StoreVault(try StoreLocation(resolving: store.path, files: POSIXFileOperations()))
    #expect(try vault.logDamage()?.lostCount == scene.frameCount)
    #expect(try vault.findings().contains { $0.kind == .damagedLog && $0.severity == .error })
    // Blank space that a file system allocated is no log.
    try Data(count: scene.log.count).write(to: URL(fileURLWithPath: store.path + "-wal"))
    #expect(try vault.logDamage() == nil)
  }
}
