package import Foundation
import Heirloom
import HeirloomCompare
import HeirloomOutput

package struct DoneRun: DemoRun {
  package static let name = "Done"
  package static let versionCount = 3

  private static let itemCount = 3000
  private static let addedCount = 12

  private let story: DemoStory
  package let directory: URL
  package private(set) var tale: DemoTale

  package init(story: DemoStory, directory: URL, tale: DemoTale) {
    self.story = story
    self.directory = directory
    self.tale = tale
  }

  private var url: URL { directory.appendingPathComponent("Done.sqlite") }

  package var storePath: String { url.path }

  package mutating func tell() throws {
    tale.lines = [
      tale.style.bold("A to-do list lives through three versions of its model, and the first one comes back."),
      "Everything happens in \(directory.path).",
    ]
    let first = try makeStore()
    let kept = try launch(version: 1, expecting: first)
    try launchAgain(version: 1)
    let grown = try addItems(version: 1)
    _ = try launch(version: 2, expecting: grown)
    try restore(kept, expecting: first, leaving: grown)
    try tellPlaces()
  }

  // MARK: The steps

  private mutating func makeStore() throws -> DoneItems {
    let version = story.versions[0]
    tale.heading("The app ships with the model \"\(version.name)\"")
    let start = ContinuousClock.now
    let store = try PersistentStore.create(at: url, model: version.model)
    try DoneItems.add(0..<Self.itemCount, to: store)
    try store.close()
    let seconds = start.duration(to: .now) / .seconds(1)
    try archive(version)
    let items = try DoneItems(of: storePath, model: version.model)
    try check(items.count == Self.itemCount, "the store holds \(items.count) items instead of \(Self.itemCount)")
    tale.say("A store with \(counted(Int64(items.count), "item")) was made in \(durationText(seconds)).")
    tale.step("create", [("version", .text(version.name)), ("rows", .integer(Int64(items.count)))])
    return items
  }

  private mutating func launch(version index: Int, expecting before: DoneItems) throws -> PreviousVersion {
    let version = story.versions[index]
    let last = story.versions[index - 1]
    tale.heading("An update brings the model \"\(version.name)\", and the app starts")
    for change in ModelDifference(from: last.model, to: version.model).changes where change.isHashed {
      tale.say("changed: \(change.description)")
    }
    let assistant = assistant(version: index)
    let log = DoneLog()
    assistant.delegate = log
    guard case .migrated(let report) = try assistant.migrateStore() else {
      throw failure("the assistant found nothing to migrate")
    }
    for line in log.lines { tale.say("assistant: \(line)") }
    let after = try DoneItems(of: storePath, model: version.model)
    try check(
      after == before, "the migrated store holds \(after.count) items that are not the \(before.count) from before")
    let kept = try DoneItems(of: report.previousVersion.storeURL.path, model: last.model)
    try check(kept == before, "the version that was kept does not hold the \(before.count) items from before")
    let row = report.plan.rows.first { $0.entity == "Item" }
    try check(row?.before == Int64(before.count) && row?.after == Int64(after.count), "the report counts other rows")
    try archive(version)
    tale.say(
      "before: \(counted(row?.before ?? 0, "item")); after: \(counted(row?.after ?? 0, "item")), read back and compared"
    )
    tale.say(
      "\(losses(report.plan)); \(counted(report.plan.rowsRewritten, "row")) written in \(durationText(report.seconds))")
    tale.say(
      "kept: \(report.previousVersion.id) with \(counted(Int64(kept.count), "item")), \(sizeText(report.previousVersion.byteCount))"
    )
    tale.step(
      "migrate",
      [
        ("version", .text(version.name)), ("before", .optional(row?.before)), ("after", .optional(row?.after)),
        ("retained", .text(report.previousVersion.id)), ("seconds", .number(report.seconds)),
      ])
    return report.previousVersion
  }

  private mutating func launchAgain(version index: Int) throws {
    tale.heading("The app starts again")
    let bytes = try Data(contentsOf: url)
    let start = ContinuousClock.now
    guard case .upToDate = try assistant(version: index).migrateStore() else {
      throw failure("the second launch migrated again")
    }
    let wasArchived = try ModelController(storeURL: url).archive(story.versions[index].model)
    let seconds = start.duration(to: .now) / .seconds(1)
    try check(!wasArchived, "the second launch archived the model again")
    try check(try Data(contentsOf: url) == bytes, "the second launch changed the store")
    tale.say(
      "Nothing to do: both calls took \(String(format: "%.1f", seconds * 1000)) ms and changed no byte of the store.")
    tale.step("upToDate", [("seconds", .number(seconds))])
  }

  private mutating func addItems(version index: Int) throws -> DoneItems {
    let model = story.versions[index].model
    let store = try PersistentStore.open(at: url, model: model)
    try DoneItems.add(Self.itemCount..<(Self.itemCount + Self.addedCount), to: store)
    try store.close()
    let items = try DoneItems(of: storePath, model: model)
    try check(items.count == Self.itemCount + Self.addedCount, "the store holds \(items.count) items")
    tale.say("The user adds \(counted(Int64(Self.addedCount), "item")): there are \(grouped(Int64(items.count))) now.")
    tale.step("use", [("rows", .integer(Int64(items.count)))])
    return items
  }

  private mutating func restore(_ kept: PreviousVersion, expecting first: DoneItems, leaving last: DoneItems) throws {
    tale.heading("And if the user wants the first version back?")
    let result = try assistant(version: 2).archive.restorePreviousVersion(kept.id)
    let items = try DoneItems(of: storePath, model: story.versions[0].model)
    try check(items == first, "the restored store does not hold the \(first.count) items of the first version")
    guard let previous = result.previous else { throw failure("the store that was there was not kept") }
    let kept = try DoneItems(of: previous.storeURL.path, model: story.versions[2].model)
    try check(kept == last, "the store that was there was not kept with its \(last.count) items")
    tale.say(
      "\(result.restored.id) is the store again: \(counted(Int64(items.count), "item")) of \"\(story.versions[0].name)\","
        + " every value as it was at the beginning.")
    tale.say("The store that was there, with its \(counted(Int64(kept.count), "item")), is kept as \(previous.id).")
    tale.step(
      "restore",
      [
        ("restored", .text(result.restored.id)), ("retained", .text(previous.id)),
        ("rows", .integer(Int64(items.count))),
      ])
  }

  private mutating func tellPlaces() throws {
    tale.lines += ["", tale.style.bold("Where everything lies:")]
    tale.say("store   \(storePath)")
    for version in try assistant(version: 2).archive.previousVersions() { tale.say("kept    \(version.storeURL.path)") }
    tale.say("model   \(ModelController(storeURL: url).snapshotURL.path)")
    tale.lines += ["", tale.style.green("All of this was checked, nothing assumed.")]
  }

  // MARK: Parts

  private func assistant(version index: Int) -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    // The first version must be kept through two migrations.
    configuration.keptVersions = 3
    return MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url), history: story.history(at: index),
      configuration: configuration)
  }

  private func archive(_ version: DemoStory.Version) throws {
    try ModelController(storeURL: url).archive(version.model)
  }

  private func losses(_ plan: MigrationPlan) -> String {
    plan.losses.isEmpty ? "nothing was lost" : "lost: " + plan.losses.map(\.reason).joined(separator: "; ")
  }
}

private final class DoneLog: MigrationAssistantDelegate {
  private(set) var lines: [String] = []

  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    switch event {
    case .foundSourceModel(let source, let version):
      let name = version.map { " \"\($0)\"" } ?? ""
      lines.append("the store was made by the version\(name); its model lies in the \(source.rawValue)")
    case .held: lines.append("no other process can write to the store")
    case .built: lines.append("the migrated store is complete beside it")
    case .proven: lines.append("the migrated store is proven")
    case .previousVersionKept(let id): lines.append("the previous version is kept: \(id)")
    case .swapped: lines.append("the migrated store is in place")
    case .failed(let reason): lines.append("failed: \(reason)")
    default: break
    }
  }
}
