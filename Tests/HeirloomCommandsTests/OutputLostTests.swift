import Foundation
import TestSupport
import Testing

/// Output that can't be written, and missing places and lists, for the tool as a process.
@Suite(.enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"))
struct OutputLostTests {
  /// `$tool` is the tool.
  private func shell(_ line: String, in folder: URL) throws -> (code: Int32?, error: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", line]
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(["tool": BuiltTool.url?.path ?? ""]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let error = Pipe()
    process.standardError = error
    try process.run()
    let bytes = error.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      process.terminationReason == .exit ? process.terminationStatus : nil, String(decoding: bytes, as: UTF8.self)
    )
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full here"),
    arguments: [
      "inspect Notebook.sqlite", "inspect Notebook.sqlite --json", "help",
      "plan Notebook.sqlite --to Adding.json --sql",
      "migrate Notebook.sqlite --to Adding.json", "migrate Notebook.sqlite --to Adding.json --jobs 1",
      "completions bash",
      "diagram Adding.json",
    ])
  func `output that can't be written is a failure with a code of its own`(words: String) throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 3)
    _ = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let full = try shell("\"$tool\" \(words) >/dev/full", in: directory.url)
    #expect(full.code == 9)
    #expect(full.error.contains("Not all of the output could be written: No space left on device."))
    let closed = try shell("\"$tool\" \(words) >&-", in: directory.url)
    #expect(closed.code == 9)
    #expect(closed.error.contains("Not all of the output could be written: "))
    // A reader that goes away knows it: nothing is said, and the code tells.
    let piped = try shell("\"$tool\" \(words) | true; exit ${PIPESTATUS[0]}", in: directory.url)
    #expect(piped.code == 9 || piped.code == 0)
    #expect(!piped.error.contains("could be written"))
    withExtendedLifetime(directory) {}
  }

  @Test(.disabled(if: Sanitizer.isOn, Sanitizer.reason))
  func `a failure keeps its code, and a report on a full disk is one`() throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 3)
    _ = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    #expect(try shell("\"$tool\" inspect absent --json >/dev/full", in: directory.url).code == 1)
    let line = "ulimit -f 1; \"$tool\" report Notebook.sqlite --to Adding.json --output page.html"
    let report = try shell(line, in: directory.url)
    #expect(report.code == 1 && report.error.contains("File too large"), "\(report)")
    #expect(!FileManager.default.fileExists(atPath: directory.file("page.html").path))
    withExtendedLifetime(directory) {}
  }

  @Test func `what is said goes into no file of a store when the streams are closed`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    _ = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let line = "\"$tool\" migrate Notebook.sqlite --to Adding.json <&- >&- 2>&-"
    #expect(try shell(line, in: directory.url).code == 9)
    let names = FileManager.default.enumerator(atPath: directory.url.path)?.allObjects as? [String] ?? []
    for name in names where !name.hasSuffix(".json") {
      let bytes = (try? Data(contentsOf: directory.file(name))) ?? Data()
      #expect(bytes.range(of: Data("was migrated to".utf8)) == nil, "\(name)")
      #expect(bytes.range(of: Data("heirloom:".utf8)) == nil, "\(name)")
    }
    #expect(Tool(directory: directory.url)("verify", store.path).code == 0)
  }

  @Test func `a working directory that is gone is an error, and whole paths go on working`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    for words in [
      "inspect Notebook.sqlite", "doctor ..", "migrate --files-from list --to x", "snapshot /x", "compare a b",
      "report /a --to /b --output c",
    ] {
      let line = "mkdir gone && cd gone && rmdir ../gone && \"$tool\" \(words)"
      let outcome = try shell(line, in: directory.url)
      #expect(outcome.code == 1 || outcome.error.contains("There is no"), "\(words): \(outcome)")
      #expect(!outcome.error.contains(" /Notebook.sqlite") && !outcome.error.contains("/.."), "\(words): \(outcome)")
    }
    let line = "mkdir gone && cd gone && rmdir ../gone && "
    #expect(
      try shell(line + "\"$tool\" inspect Notebook.sqlite", in: directory.url).error.contains(
        "started in no longer exists"))
    #expect(try shell(line + "\"$tool\" inspect '\(store.path)'", in: directory.url).code == 0)
    #expect(try shell(line + "\"$tool\" help", in: directory.url).code == 0)
  }

  enum Source: String, CaseIterable, Sendable {
    case pipe, standardInput
  }

  @Test(arguments: Source.allCases, [SIGINT, SIGTERM])
  func `a list that nobody writes can be interrupted`(source: Source, signal: Int32) throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    #expect(mkfifo(directory.file("list").path, 0o600) == 0)
    let process = Process()
    process.executableURL = BuiltTool.url
    process.currentDirectoryURL = directory.url
    process.arguments = ["migrate", "--to", "Adding.json", "--files-from", source == .pipe ? "list" : "-"]
    let (input, error) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = error
    try process.run()
    // It says that it is reading once it has waited for a while.
    #expect(String(decoding: error.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("Reading the list"))
    let start = ContinuousClock.now
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    #expect(start.duration(to: .now) < .seconds(1))
    try input.fileHandleForWriting.close()
  }
}
