import Foundation
import Heirloom
import HeirloomFormats
import HeirloomFuzzing
import HeirloomStore
import TestSupport
import Testing

/// Small files that ask for any amount of work: every command and every call of an app ends soon, in little memory.
@Suite(.disabled(if: Sanitizer.isOn, Sanitizer.reason))
struct HostileSchemaTests {
  private static let models = Tool.snapshots.appendingPathComponent("Done")
  /// Seconds of processor time; on a machine that is busy with other tests, everything takes longer.
  private static let seconds = 3.0
  private static let bytes = 256 << 20

  private static func commands(_ store: URL, _ folder: URL) -> [[String]] {
    [
      ["inspect", store.path], ["doctor", store.path], ["verify", store.path], ["compare", store.path, models.path],
      ["plan", store.path, "--to", models.path], ["rehearse", store.path, "--to", models.path],
      ["versions", store.path],
      [
        "salvage", store.path, "--model", models.appendingPathComponent("Done.json").path, "--output",
        folder.appendingPathComponent("salvaged.sqlite").path,
      ],
      ["migrate", store.path, "--to", models.path], ["restore", store.path],
    ]
  }

  private static let numbered = Array(HostileSchema.all.enumerated()).map { ($0.offset, $0.element) }

  @Test(.slow("47 processes of the tool"), arguments: numbered)
  func `each command ends within three seconds and 256 MB`(number: Int, schema: HostileSchema) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Done.sqlite")
    try HostileSchema.makeStore(at: url)
    try schema.apply(to: url)
    // In a quick run each attack meets some commands, and each command some attacks.
    let commands = Self.commands(url, directory.url)
    let count = LongTests.areOn ? commands.count : 1
    for words in (0..<count).map({ commands[(number * 7 + $0) % commands.count] }) {
      let outcome = try MeasuredTool.run(words, in: directory.url)
      #expect(outcome.code != nil, "\(words[0]): \(outcome)")
      #expect(outcome.seconds < Self.seconds, "\(words[0]): \(outcome)")
      #expect(outcome.peak < Self.bytes, "\(words[0]): \(outcome)")
      #expect(!outcome.text.isEmpty, "\(words[0]) says nothing")
    }
  }

  @Test(.slow("hostile schemas, each migrated"), arguments: LongTests.selection(of: HostileSchema.all, every: 4))
  func `an app's launch ends soon`(schema: HostileSchema) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Done.sqlite")
    try HostileSchema.makeStore(at: url)
    try schema.apply(to: url)
    let history = try ModelHistory(contentsOf: Self.models)
    let model = try ModelFile.read(Self.models.appendingPathComponent("Done.json").path).model
    func measured(_ name: String, _ body: () throws -> Void) {
      let start = Self.time()
      // An error is an answer.
      try? body()
      #expect(Self.time() - start < Self.seconds, "\(name)")
    }
    let controller = ModelController(storeURL: url)
    measured("isMigrationNeeded") {
      _ = try MigrationAssistant(storeURL: url, modelController: controller, history: history).isMigrationNeeded()
    }
    measured("open") { try PersistentStore.open(at: url, model: model).close() }
    measured("read") { try PersistentStore.open(at: url, model: model, isReadOnly: true).close() }
    measured("archive") { try controller.archive(model) }
    measured("migrateStore") {
      _ = try MigrationAssistant(storeURL: url, modelController: controller, history: history).migrateStore()
    }
  }

  private static func time() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
