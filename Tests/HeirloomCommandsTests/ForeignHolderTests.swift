import Foundation
import Heirloom
import TestSupport
import Testing

/// Other programs that don't know of us and have the store open, each in its own way.
///
/// Two rounds of each run with every `swift test`, 50 with `HEIRLOOM_LONG_TESTS=1`.
@Suite(.enabled(if: StoreHolder.python != nil, "python3 is absent: no second process holds the store"))
struct ForeignHolderTests {
  enum Hold: String, CaseIterable, Sendable {
    case idleInWALMode
    case openReader
    case openWriter
    case openReaderInRollbackMode
    case openWriterInRollbackMode
    case idleInRollbackMode
    case fileWithoutLock

    var shape: FieldStore.Shape {
      switch self {
      case .idleInWALMode, .openReader, .openWriter, .fileWithoutLock: .wal
      case .openReaderInRollbackMode, .openWriterInRollbackMode, .idleInRollbackMode: .rollback
      }
    }

    var statements: [String] {
      switch self {
      case .idleInWALMode, .idleInRollbackMode: ["SELECT count(*) FROM APPLOG"]
      case .openReader, .openReaderInRollbackMode: ["BEGIN", "SELECT count(*) FROM APPLOG"]
      case .openWriter, .openWriterInRollbackMode: ["BEGIN IMMEDIATE", "INSERT INTO APPLOG VALUES ('not committed')"]
      case .fileWithoutLock: []
      }
    }

    /// True when the store must be refused.
    var isInUse: Bool { self != .idleInRollbackMode && self != .fileWithoutLock }
  }

  private final class Holder {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ store: URL) throws {
      process.executableURL = URL(fileURLWithPath: try #require(StoreHolder.python))
      let script = """
        import sqlite3, sys
        file = open(sys.argv[1], "rb")
        file.read()
        connection = None
        print("open", flush=True)
        for line in sys.stdin:
            try:
                if connection is None:
                    file.close()
                    connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
                print(len(connection.execute(line.strip()).fetchall()), flush=True)
            except Exception as error:
                print(error, flush=True)
        """
      process.arguments = ["-c", script, store.path]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      #expect(line() == "open")
    }

    func say(_ line: String) throws -> String {
      try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
      return self.line()
    }

    private func line() -> String {
      var bytes: [UInt8] = []
      while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
        bytes.append(byte)
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    func end() {
      if process.isRunning { _ = kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
    }

    deinit { end() }
  }

  @Test(arguments: Hold.allCases)
  func `a store that others have open is refused byte for byte, or swapped so that they can't harm it`(
    hold: Hold
  ) throws {
    let field = try FieldStore(hold.shape)
    let history = try ModelHistory(contentsOf: field.models)
    let rounds = LongTests.count(quick: 2, long: 50)
    var tally = RunTally()
    for _ in 0..<rounds {
      let directory = try TemporaryDirectory()
      let store = try field.place(in: directory.url)
      let holder = try Holder(store)
      for statement in hold.statements { #expect(Int(try holder.say(statement)) != nil) }
      let bytes = field.bytes(at: store)
      let assistant = MigrationAssistant(store, history, .init(storeTimeout: .seconds(0.02)))
      do {
        _ = try assistant.migrateStore()
        tally.add(nil)
        #expect(!hold.isInUse)
        field.checkMigrated(store)
        let sentence = try holder.say(
          hold == .fileWithoutLock ? "SELECT count(*) FROM APPLOG" : "INSERT INTO APPLOG VALUES ('too late')")
        // It continues with the file that it has open, which is the previous version, and may not write there. Apple's
        // SQLite doesn't let it continue.
        #if canImport(Darwin)
          let refusal = "disk I/O error"
        #else
          let refusal = "readonly"
        #endif
        if hold == .idleInRollbackMode { #expect(sentence.contains(refusal), "\(sentence)") }
        if hold == .fileWithoutLock { #expect(Int(sentence) != nil, "\(sentence)") }
      } catch let error as MigrationAssistantError {
        tally.add(error.code)
        #expect(hold.isInUse, "\(error)")
        #expect(error.code == "storeInUse", "\(error)")
        #expect(field.bytes(at: store) == bytes, "\(error)")
        // The refusal took nothing from the other program.
        #expect(Int(try holder.say("SELECT count(*) FROM APPLOG")) != nil)
        holder.end()
        _ = try assistant.migrateStore()
      }
      holder.end()
      #expect(field.isMigrated(store))
      #expect(field.previousVersions(of: store).count == 1 && field.previousVersions(of: store).allSatisfy(field.isOld))
    }
    print("held by another process, \(hold): \(tally)")
    #expect(tally.succeeded == (hold.isInUse ? 0 : rounds) && tally.failed == (hold.isInUse ? rounds : 0))
  }
}
