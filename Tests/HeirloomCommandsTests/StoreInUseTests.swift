import Foundation
import Heirloom
import TestSupport
import Testing

/// Another process that has a store open, by Python's SQLite.
final class StoreHolder {
  static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  private let process = Process()
  private let input = Pipe()

  /// Returns once the statements are done.
  init(_ path: String, statements: [String]) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    let script = """
      import sqlite3, sys
      connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
      for statement in sys.argv[2:]:
          connection.execute(statement).fetchall()
      print("done", flush=True)
      sys.stdin.read()
      """
    process.arguments = ["-c", script, path] + statements
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let answer = try output.fileHandleForReading.read(upToCount: 4) ?? Data()
    #expect(answer == Data("done".utf8))
  }

  deinit {
    if process.isRunning { _ = kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}

@Suite(.enabled(if: StoreHolder.python != nil, "python3 is absent: no second process holds the store"))
struct StoreInUseTests {
  enum Hold: String, CaseIterable, Sendable {
    case idle
    case reader
    case writer
    case rollbackWriter

    var statements: [String] {
      switch self {
      case .idle: ["SELECT count(*) FROM ZNOTE"]
      case .reader: ["BEGIN", "SELECT count(*) FROM ZNOTE"]
      case .writer: ["BEGIN IMMEDIATE", "UPDATE ZNOTE SET ZMOOD = 'sad'"]
      case .rollbackWriter: ["PRAGMA journal_mode=DELETE", "BEGIN IMMEDIATE", "UPDATE ZNOTE SET ZMOOD = 'sad'"]
      }
    }
  }

  @Test(arguments: Hold.allCases)
  func `a store that another process holds is left alone`(hold: Hold) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 100)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let holder = try StoreHolder(store.path, statements: hold.statements)
    let bytes = StoreBytes(of: store)
    let tool = Tool(directory: directory.url, storeTimeout: .seconds(0.5))
    try withExtendedLifetime(holder) {
      #expect(tool("inspect", store.path).code == 0)
      #expect(tool("rehearse", store.path, "--to", model).code == 0)
      let outcome = tool("migrate", store.path, "--to", model, "--json")
      #expect(outcome.code == 4, "\(outcome.output)")
      let failure = try outcome.failure()
      #expect(failure["code"] as? String == "storeInUse")
      #expect(failure["coreDataCode"] as? Int == 134_090)
      #expect(failure["storeAt"] as? String == store.path)
      #expect((failure["suggestion"] as? String)?.contains("Close") == true)
      #expect(StoreBytes(of: store) == bytes)
    }
  }

  @Test(arguments: ["inspect", "verify", "doctor", "plan", "migrate"])
  func `a store that the system lets nobody open is told to be there, and when to try again`(command: String) throws {
    let directory = try TemporaryDirectory()
    let device = LockedDevice()
    let made = try Notebook.makeStore(in: directory, count: 3)
    let folder = directory.file(device.folderName)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = folder.appendingPathComponent(made.lastPathComponent)
    try FileManager.default.copyItem(at: made, to: store)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    let target = ["plan", "migrate"].contains(command) ? ["--to", model] : []
    let outcome = device.whileLocked { tool.run([command, store.path] + target) }
    #expect((outcome.output + outcome.error).contains("unlocked"), "\(outcome)")
    #expect(outcome.code == (command == "doctor" ? 0 : 1), "\(outcome)")
    #expect(tool.run([command, store.path] + target).code == 0)
  }

  @Test func `a store that nobody else may read is told to be in use`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 100)
    let holder = try StoreHolder(store.path, statements: ["PRAGMA journal_mode=DELETE", "BEGIN EXCLUSIVE"])
    let bytes = StoreBytes(of: store)
    let outcome = Tool(directory: directory.url, storeTimeout: .seconds(0.5))("inspect", store.path, "--json")
    #expect(outcome.code == 4, "\(outcome.output)")
    #expect(try outcome.failure()["code"] as? String == "storeInUse")
    #expect(StoreBytes(of: store) == bytes)
    withExtendedLifetime(holder) {}
  }
}
