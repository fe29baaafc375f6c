import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// The files that a killed rehearsal leaves in the temporary folder.
@Suite(.enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"))
struct ScratchFolderTests {
  private let directory: TemporaryDirectory
  private let temporary: TemporaryDirectory
  private let store: URL

  init() throws {
    directory = try TemporaryDirectory()
    temporary = try TemporaryDirectory()
    store = try Notebook.makeStore(in: directory, count: 20_000)
    _ = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
  }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: temporary.url.path)) ?? []).sorted()
  }

  private func start() throws -> Process {
    let process = Process()
    process.executableURL = BuiltTool.url
    process.arguments = ["rehearse", store.path, "--to", directory.file("Dropping.json").path, "--accept-losses"]
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary.url.path]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Starts a rehearsal and suspends it in the middle, so that it lives and does nothing.
  private func startAndHold() throws -> Process {
    let process = try start()
    let end = ContinuousClock.now + .seconds(20)
    while !names.contains(where: {
      FileManager.default.fileExists(atPath: temporary.file($0 + "/Notebook.sqlite").path)
    }),
      ContinuousClock.now < end
    {
      usleep(500)
    }
    kill(process.processIdentifier, SIGSTOP)
    return process
  }

  private func rehearse() -> Int32 {
    Tool(directory: directory.url, environment: ["TMPDIR": temporary.url.path])(
      "rehearse", store.path, "--to", directory.file("Dropping.json").path, "--accept-losses"
    ).code
  }

  @Test func `the folder of a rehearsal that lives stays, that of one that was killed goes with the next run`() throws {
    let process = try startAndHold()
    let held = names
    #expect(held.count == 1)
    let name = try #require(held.first)
    let mode = try FileManager.default.attributesOfItem(atPath: temporary.file(name).path)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    #expect(rehearse() == 0)
    #expect(names == held)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(names == held)
    #expect(rehearse() == 0)
    #expect(names == [])
  }

  @Test func `runs that begin at the same time take no folder of each other's`() throws {
    let path = temporary.url.path
    let isDone = Locked(false)
    // This does what the beginning of another run does, over and over.
    let sweeping = DispatchQueue(label: "sweeping")
    sweeping.async {
      while !isDone.withLock({ $0 }) {
        for name in (try? POSIXFileOperations().names(in: path)) ?? [] {
          let descriptor = open(path + "/" + name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
          if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 { rmdir(path + "/" + name) }
          close(descriptor)
        }
      }
    }
    let few = try Notebook.makeStore(in: directory, count: 1, name: "Few.sqlite")
    let tool = Tool(directory: directory.url, environment: ["TMPDIR": path])
    for _ in 0..<20 {
      let outcome = tool(
        "rehearse", few.path, "--to", directory.file("Dropping.json").path, "--accept-losses")
      #expect(outcome.code == 0, "\(outcome)")
    }
    isDone.withLock { $0 = true }
    sweeping.sync {}
    #expect(names == [])
  }

  @Test func `what is no folder of a run of ours stays, and no link is followed`() throws {
    let process = try startAndHold()
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let left = try #require(names.first)
    let files = FileManager.default
    // A folder that was left has a link to a folder elsewhere, and folders in folders.
    let outside = directory.file("outside")
    try files.createDirectory(at: outside.appendingPathComponent("inner"), withIntermediateDirectories: true)
    try Data("kept".utf8).write(to: outside.appendingPathComponent("file"))
    try files.createSymbolicLink(at: temporary.file(left + "/link"), withDestinationURL: outside)
    try files.createDirectory(at: temporary.file(left + "/a/b/c"), withIntermediateDirectories: true)
    try Data().write(to: temporary.file(left + "/a/b/c/d"))
    // Beside it: a link and a file of such names, another user's folder, one that others may write, other names.
    let start = String(left.prefix(left.count - 32))
    func name(_ digit: String) -> String { start + String(repeating: digit, count: 32) }
    try files.createSymbolicLink(at: temporary.file(name("1")), withDestinationURL: outside)
    try Data("kept".utf8).write(to: temporary.file(name("2")))
    for (name, mode) in [(name("3"), 0o777), (start + "x", 0o700), ("heirloom-other", 0o700), (name("4"), 0o700)] {
      try files.createDirectory(
        at: temporary.file(name), withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
      #expect(chmod(temporary.file(name).path, mode_t(mode)) == 0)
    }
    if geteuid() == 0 { #expect(lchown(temporary.file(name("4")).path, 65534, 65534) == 0) }
    #expect(rehearse() == 0)
    let stay = [name("1"), name("2"), name("3"), start + "x", "heirloom-other"] + (geteuid() == 0 ? [name("4")] : [])
    #expect(names == stay.sorted())
    #expect(try String(contentsOf: outside.appendingPathComponent("file"), encoding: .utf8) == "kept")
    #expect(files.fileExists(atPath: outside.appendingPathComponent("inner").path))
  }
}
