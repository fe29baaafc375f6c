import Foundation
import TestSupport
import Testing

/// A limit on the size of files, at each step: writes end in the middle although the volume has space.
///
/// A few limits run with every `swift test`, each KiB with `HEIRLOOM_LONG_TESTS=1`.
@Suite(
  .enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"),
  .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/prlimit"), "there is no prlimit here"),
  .disabled(if: Sanitizer.isOn, Sanitizer.reason))
struct FileSizeLimitTests {
  /// The effect of a write beyond the limit.
  enum Signal: String, CaseIterable, Sendable {
    /// It fails.
    case ignored
    /// It ends the process at once.
    case deadly
  }

  @Test(arguments: FieldStore.Shape.allCases, Signal.allCases)
  func `wherever a file may not grow, the store is the old one, and the next run completes`(
    shape: FieldStore.Shape, signal: Signal
  ) throws {
    let field = try FieldStore(shape)
    var tally = RunTally()
    var limit = 0
    while tally.succeeded < (LongTests.areOn ? 3 : 1) {
      let directory = try TemporaryDirectory()
      let store = try field.place(in: directory.url)
      let disposition = signal == .ignored ? "--ignore-signal=XFSZ" : "--default-signal=XFSZ"
      let limited = ToolProcess(
        wrapper: ["/usr/bin/env", disposition, "/usr/bin/prlimit", "--core=0", "--fsize=\(limit << 10)"])
      let outcome = try limited.migrate(store, to: field.models)
      let comment: Comment = "\(limit) KiB: \(outcome.summary)"
      if outcome.outcome == "migrated" {
        tally.add(nil)
        #expect(outcome.code == 0, comment)
      } else {
        tally.add(outcome.failure ?? "killed")
        if signal == .ignored {
          #expect(outcome.code == 1, comment)
          #expect(!outcome.message.isEmpty, comment)
        } else {
          #expect(outcome.code == 1 || outcome.code == nil, comment)
        }
        // The snapshot is written after the swap: a run that dies there has migrated the store.
        #expect(field.isOld(store) || signal == .deadly && field.isMigrated(store), comment)
        let next = try ToolProcess().migrate(store, to: field.models)
        #expect(next.code == 0, "\(limit) KiB: \(next.summary)")
      }
      field.checkMigrated(store, comment)
      limit += LongTests.areOn ? 1 : 16
      try #require(limit < 4096)
    }
    print("file-size limit, migrate, \(shape), signal \(signal): \(tally)")
    #expect(tally.failed > 3)
  }
}
