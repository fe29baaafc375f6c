import Foundation
import TestSupport
import Testing

/// Limits of the process: whatever is missing, a run ends by itself and with a sentence, and the store is old or new.
@Suite(
  .enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"),
  .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/prlimit"), "there is no prlimit here"),
  .disabled(if: Sanitizer.isOn, Sanitizer.reason))
struct ProcessLimitsTests {
  enum Limit: Sendable, CustomStringConvertible {
    case files(Int)
    case memory(Int)
    case fileSize(Int)

    var option: String {
      switch self {
      case .files(let count): "--nofile=\(count)"
      case .memory(let bytes): "--as=\(bytes)"
      case .fileSize(let bytes): "--fsize=\(bytes)"
      }
    }
    var description: String { option }

    static let all: [Limit] =
      [4, 5, 8, 15, 16, 24].map { .files($0) } + [200 << 20, 300 << 20, 1 << 30].map { .memory($0) }
      + [0, 4096, 40_000].map { .fileSize($0) }
  }

  static let commands = [
    "inspect", "doctor", "verify", "plan", "rehearse", "migrate", "batch", "versions", "restore", "salvage", "snapshot",
    "report", "check", "help",
  ]

  private static func words(_ command: String, _ store: URL, _ models: URL) -> [String] {
    let output = store.deletingLastPathComponent().appendingPathComponent("output")
    switch command {
    case "plan", "rehearse", "migrate": return [command, store.path, "--to", models.path]
    case "batch": return ["migrate", store.path, "--jobs", "4", "--to", models.path]
    case "salvage": return [command, store.path, "--output", output.path, "--model", models.path]
    case "report": return [command, store.path, "--to", models.path, "--output", output.path + ".html"]
    case "snapshot": return [command, models.path, "--output", output.path + ".json"]
    case "check": return [command, models.path]
    case "help": return [command]
    default: return [command, store.path]
    }
  }

  @Test(
    arguments: LongTests.selection(of: Limit.all, every: 3),
    LongTests.areOn ? commands : ["inspect", "migrate", "batch"])
  func `a run within a limit ends, with a sentence if it fails`(limit: Limit, command: String) throws {
    let field = try FieldStore(.rollback)
    let directory = try TemporaryDirectory()
    let store = try field.place(in: directory.url)
    // Without a version that is kept, there is nothing to restore, whatever the limit.
    if command == "restore" {
      let migration = try ToolProcess().run(Self.words("migrate", store, field.models))
      #expect(migration.code == 0, "\(migration.summary)")
    }
    let tool = ToolProcess(wrapper: ["/usr/bin/prlimit", "--core=0", limit.option])
    let outcome = try tool.run(Self.words(command, store, field.models))
    let comment: Comment = "\(limit) \(command): \(outcome.summary)"
    #expect(!outcome.hung, comment)
    // A program that can't be started is reported by the system.
    #expect(outcome.code != nil && ![126, 127].contains(outcome.code), comment)
    if let code = outcome.code, ![0, 3, 6].contains(code) {
      #expect(outcome.error.contains("heirloom: "), comment)
    }
    #expect(field.isOld(store) || field.isMigrated(store), comment)
    if case .files(16...) = limit { #expect([0, 3, 6].contains(outcome.code), comment) }
    if case .memory((1 << 30)...) = limit { #expect([0, 3, 6].contains(outcome.code), comment) }
  }

  @Test(
    .enabled(if: PlainUser.isPossible && geteuid() == 0, "no user without privileges can run the tool here"),
    arguments: ["inspect", "plan", "rehearse", "migrate", "batch"])
  func `a run without a single thread more does all that it is asked for`(command: String) throws {
    let field = try FieldStore(.rollback)
    let directory = try TemporaryDirectory()
    let store = try field.place(in: directory.url)
    for path in [directory.url.path]
      + (FileManager.default.enumerator(atPath: directory.url.path)?.allObjects ?? []).map({
        directory.url.path + "/\($0)"
      })
    {
      #expect(lchown(path, PlainUser.identifier, PlainUser.identifier) == 0)
    }
    var tool = PlainUser.tool
    tool.wrapper += [
      "/usr/bin/env", "TMPDIR=\(directory.url.path)", "/bin/bash", "-c", "ulimit -u 1; exec \"$0\" \"$@\"",
    ]
    let outcome = try tool.run(Self.words(command, store, field.models))
    #expect(!outcome.hung && outcome.code == 0, "\(command): \(outcome.summary)")
    if ["migrate", "batch"].contains(command) { #expect(field.isMigrated(store), "\(command)") }
  }
}
