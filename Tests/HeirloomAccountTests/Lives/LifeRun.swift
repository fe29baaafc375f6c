import Foundation
import Heirloom
import HeirloomMigration
import HeirloomStore
import TestSupport

struct LifeRun {
  private let models: LifeModels
  private let app: LifeApp
  private let folder: URL
  let store: URL
  private var values = LifeValues()
  private var ledger = LifeLedger()
  private var isDamaged = false
  /// After the last act; `nil` if there is no store.
  private var live: StoreFacts?
  private(set) var told: [String] = []
  private(set) var outcomes: [String: Int] = [:]

  init(_ models: LifeModels, in directory: TemporaryDirectory, random: SplitMix64) throws {
    self.models = models
    app = try LifeApp(models, in: directory)
    folder = directory.file("App")
    store = folder.appendingPathComponent("Store.sqlite")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var random = random
    try begin(version: 0, using: &random)
  }

  /// With objects, and damage that other programs do.
  private mutating func begin(version: Int, using random: inout SplitMix64) throws {
    let model = app.folders[version]
    try model.makeEmptyStore(at: store)
    let seeded = try SeededStore(
      model.xml, emptyStoreAt: store.path, rows: 1 + random.below(5), random: SplitMix64(seed: random.next()))
    var damage: Set<SeededDamage.Kind> = []
    for kind in [SeededDamage.Kind.unknownColumns, .unknownColumnsOfLinks, .oneSidedLinks] where random.below(2) == 0 {
      damage.insert(kind)
    }
    try SeededDamage(path: store.path, model: model.xml, kinds: damage).make(seeded, using: &random)
    try write(using: &random) { writer in
      try writer.replaceAllValues()
    }
    try ModelController(storeURL: store).archive(model.model)
    try look()
    if let live { ledger.admit(live.counts) }
  }

  // MARK: Looking

  private func facts(of url: URL) throws -> StoreFacts { try StoreFacts(of: url, models: app.models) }

  private mutating func look() throws {
    live = FileManager.default.fileExists(atPath: store.path) ? try facts(of: store) : nil
  }

  /// Those of every other store that can be read and that no launch may remove, and of quarantine.
  private func lastingFiles() -> [[Fact: Int]] {
    let left = Set(archive.filter { !$0.isPinned }.map(\.id))
    let enumerator = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var files: [[Fact: Int]] = []
    while let url = enumerator?.nextObject() as? URL {
      if url.path == store.path || url.pathComponents.contains("incoming") { continue }
      if !left.isDisjoint(with: url.pathComponents) { continue }
      if url.lastPathComponent == store.lastPathComponent, let found = try? facts(of: url) {
        files.append(found.counts)
      } else if url.pathExtension == "jsonl" {
        files.append(QuarantinedFacts(of: url, folder: folder, models: models.versions).counts)
      }
    }
    return files
  }

  // MARK: Acting

  /// Returns what is lost then.
  mutating func perform(_ act: LifeAct, afterAct: ((LifeAct.Kind, URL) throws -> Void)?) throws -> [String] {
    var random = act.random
    if live == nil {
      // The app goes on with a new store, or the store comes back.
      if act.kind != .bringBack || archive.isEmpty {
        try begin(version: random.below(app.folders.count), using: &random)
        told.append("began again")
      }
    }
    let before = live
    let hadSoundVersion = isDamaged && hasSoundVersion
    var plan: MigrationPlan?
    var restored: [Fact: Int] = [:]
    do {
      switch act.kind {
      case .migrate: plan = try migrate(using: &random)
      case .launch: try launch(using: &random)
      case .write:
        let kinds = LifeWriter.Kind.draw(using: &random)
        told.append("write \(kinds.map(\.rawValue).joined(separator: ", "))")
        try write(using: &random) { try $0.write(kinds) }
      case .writeObjects: try writeObjects(using: &random)
      case .restore: restored = try restore(using: &random)
      case .release: try release(using: &random)
      case .finishDeferred: try finishDeferred()
      case .bringBack: plan = try bringBack(using: &random)
      case .damageFiles: try damageFiles(using: &random)
      case .damageVersion: try damageVersion(using: &random)
      }
    } catch let error as MigrationAssistantError {
      note(error.code)
    }
    try afterAct?(act.kind, store)
    try look()
    if act.kind == .damageVersion || act.kind == .damageFiles { isDamaged = true }
    let pruned = hadSoundVersion && act.kind != .damageVersion && !hasSoundVersion
    return try judge(act.kind, before, plan, restored) + (pruned ? ["no sound version is kept any more"] : [])
  }

  private mutating func judge(
    _ kind: LifeAct.Kind, _ before: StoreFacts?, _ plan: MigrationPlan?, _ restored: [Fact: Int]
  ) throws -> [String] {
    let after = live?.counts ?? [:]
    var lost: [String] = []
    switch kind {
    case .write, .writeObjects, .damageFiles:
      if let before { ledger.forget(before.counts, after: after) }
    case .damageVersion, .release:
      // The disk took it, or a person gave it up; what is elsewhere has to stay there.
      for fact in ledger.missing(from: [after] + lastingFiles()) { ledger.remove(fact, .max) }
    case .migrate, .launch, .finishDeferred:
      var losses: LifeLosses?
      if let plan, let before { losses = LifeLosses(plan.losses, models: models, source: before, after: after) }
      // (A store that was set aside is another file.)
      let gone = (live == nil ? [:] : before?.counts ?? [:]).filter {
        after[$0.key, default: 0] < $0.value && ledger.needed[$0.key] != nil
      }
      for (fact, count) in gone.sorted(by: { "\($0.key)" < "\($1.key)" }) {
        switch losses?.cover(fact) {
        case .agreed: ledger.remove(fact, count)
        // The previous version has it.
        case .told: break
        case nil: lost.append("\(described(fact, before)) is gone without a word")
        }
      }
    case .restore, .bringBack: break
    }
    lost += ledger.missing(from: [after] + lastingFiles()).map { "\(described($0, before)) is in no file that lasts" }
    lost += restored.filter { after[$0.key, default: 0] < $0.value }.map { "\($0.key) was not restored" }
    ledger.admit(after)
    return lost.sorted()
  }

  /// True if a previous version can be read and has its external files.
  private var hasSoundVersion: Bool { archive.contains { (try? facts(of: $0.storeURL).hasExternalFiles) ?? false } }

  private func described(_ fact: Fact, _ before: StoreFacts?) -> String {
    "\(fact)\(before?.places[fact].map { " of \($0.table).\($0.column)" } ?? "")"
  }

  private mutating func note(_ outcome: String) {
    outcomes[outcome, default: 0] += 1
    told.append(outcome)
  }

  private var archive: [PreviousVersion] { (try? StoreArchive(storeURL: store).previousVersions()) ?? [] }

  private func assistant(_ version: Int, _ random: inout SplitMix64) -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    configuration.losses = [.keepVersion, .keepVersion, .keepVersion, .accept, .stop][random.below(5)]
    configuration.keptVersions = random.below(4) == 0 ? 2 : 1
    configuration.defersLightweightMigration = random.below(6) == 0
    configuration.migratesUnknownVersions = random.below(4) == 0
    configuration.incompatibleStore = random.below(3) == 0 ? .setAside : .throw
    let builders: [BuilderChoice] = [.automatic, .always(.rebuild), .always(.cloneAndAlter)]
    return MigrationAssistant(
      store, app.history(version, knowsLater: random.below(3) != 0), configuration, builder: builders[random.below(3)])
  }

  // MARK: Migrating

  private mutating func migrate(using random: inout SplitMix64) throws -> MigrationPlan? {
    // Mostly up.
    let now = app.version(of: live?.model) ?? 0
    let later = app.folders.indices.filter { $0 > now }
    let version =
      later.isEmpty || random.below(4) == 0 ? random.below(app.folders.count) : later[random.below(later.count)]
    return try migrate(to: version, using: &random)
  }

  private mutating func migrate(to version: Int, using random: inout SplitMix64) throws -> MigrationPlan? {
    let assistant = assistant(version, &random)
    let delegate = LifeDelegate(random: SplitMix64(seed: random.next()))
    if random.below(2) == 0 { assistant.delegate = delegate }
    defer { withExtendedLifetime(delegate) {} }
    told.append(
      "migrate to \(version + 1), losses \(assistant.configuration.losses), keeping"
        + " \(assistant.configuration.keptVersions)\(assistant.configuration.defersLightweightMigration ? ", deferred" : "")"
    )
    switch try assistant.migrateStore() {
    case .migrated(let report):
      note("migrated")
      try assistant.modelController.archive(assistant.history.current)
      let losses = report.plan.losses.map {
        "\($0.kind) \($0.name): \($0.links ?? $0.rows)\($0.consent.map { " (\($0))" } ?? "")"
      }
      let decisions = report.plan.decisions
      if !decisions.isEmpty { note("decided"); told.append("decided: \(decisions)") }
      if !losses.isEmpty { told.append("told: \(losses.joined(separator: ", "))") }
      return report.plan
    case .upToDate: note("upToDate")
    case .noStore: note("noStore")
    case .setAside: note("setAside")
    }
    return nil
  }

  private mutating func launch(using random: inout SplitMix64) throws {
    guard let version = app.version(of: live?.model) else { return }
    _ = try migrate(to: version, using: &random)
  }

  private mutating func finishDeferred() throws {
    told.append("finish deferred clean-up")
    guard let version = app.version(of: live?.model) else { return }
    let opened = try PersistentStore.open(at: store, model: app.folders[version].model)
    if opened.hasPendingDeferredMigration { note("finished clean-up") }
    try opened.finishDeferredLightweightMigration()
    try opened.close()
  }

  // MARK: Writing

  private mutating func write(
    using random: inout SplitMix64, _ body: (inout LifeWriter) throws -> Void
  ) throws {
    guard
      var writer = LifeWriter(
        store, try facts(of: store), values: values, random: SplitMix64(seed: random.next()))
    else { return }
    defer { values = writer.values }
    try body(&writer)
  }

  /// Through the product's objects, as an app does.
  private mutating func writeObjects(using random: inout SplitMix64) throws {
    told.append("write objects")
    guard let version = app.version(of: live?.model) else { return }
    let model = app.folders[version]
    let opened = try PersistentStore.open(at: store, model: model.model)
    let context = ManagedObjectContext(store: opened)
    for entity in model.xml.entities where !entity.isAbstract && random.below(3) == 0 {
      let object = try random.below(2) == 0 ? context.fetch(entity.name).first : nil
      let written = try object ?? context.insert(entity.name)
      for attribute in model.xml.attributes(of: entity.name).map(\.property) {
        let isMark = attribute.name == SeededCase.mark
        guard object == nil ? isMark || !attribute.isOptional || random.below(2) == 0 : !isMark && random.below(3) == 0,
          let value = value(of: attribute, using: &random)
        else { continue }
        written[attribute.name] = value
      }
    }
    try context.save()
    try opened.close()
  }

  private mutating func value(
    of attribute: XMLModel.Attribute, using random: inout SplitMix64
  ) -> AttributeValue? {
    switch (attribute.type, values.next(attribute.type, using: &random)) {
    case ("Boolean", _): .boolean(true)
    case ("Date", .real(let value)): .date(value)
    case ("Decimal", .real(let value)): .decimal("\(value)")
    case ("URI", .text(let bytes)): .uri(String(decoding: bytes, as: UTF8.self))
    case ("UUID", .blob(let bytes)): .uuid(bytes)
    case (_, .integer(let number)): .integer(number)
    case (_, .real(let value)): .double(value)
    case (_, .text(let bytes)): .string(String(decoding: bytes, as: UTF8.self))
    case (_, .blob(let bytes)): .binary(bytes)
    case (_, .null): nil
    }
  }

  // MARK: What is kept

  private mutating func restore(using random: inout SplitMix64) throws -> [Fact: Int] {
    // (A person wouldn't choose one that can't be read.)
    let readable = archive.filter { (try? facts(of: $0.storeURL)) != nil }
    guard let version = readable.randomElement(using: &random) else { return [:] }
    told.append("restore \(version.versionName ?? "?")\(version.isPinned ? ", pinned" : "")")
    let held = (try? facts(of: version.storeURL).counts) ?? [:]
    _ = try StoreArchive(storeURL: store).restorePreviousVersion(version.id)
    note("restored")
    return held
  }

  private mutating func release(using random: inout SplitMix64) throws {
    guard let version = archive.filter(\.isPinned).randomElement(using: &random) else { return }
    told.append("release \(version.versionName ?? "?")")
    _ = try StoreArchive(storeURL: store).releasePreviousVersion(version.id)
    note("released")
  }

  private mutating func bringBack(using random: inout SplitMix64) throws -> MigrationPlan? {
    let assistant = assistant(random.below(app.folders.count), &random)
    let waiting = try assistant.archive.setAsideStores().filter { if case .putBack = $0.state { false } else { true } }
    guard let aside = waiting.randomElement(using: &random) else { return nil }
    told.append("bring back as \(assistant.history.currentName)")
    _ = try assistant.migrateSetAsideStore(aside)
    note("brought back")
    return nil
  }

  // MARK: Damage

  private mutating func damageFiles(using random: inout SplitMix64) throws {
    guard let file = live?.externalFiles.randomElement(using: &random) else { return }
    told.append("damage an external file")
    // (In another file: the previous version may have a link to this one.)
    try? FileManager.default.removeItem(at: file)
    switch random.below(3) {
    case 0: try Data().write(to: file)
    case 1: try Data("damaged".utf8).write(to: file)
    default: break
    }
  }

  private mutating func damageVersion(using random: inout SplitMix64) throws {
    guard let version = archive.randomElement(using: &random) else { return }
    let support = version.storeURL.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT")
    if random.below(2) == 0, FileManager.default.fileExists(atPath: support.path) {
      told.append("remove the external files of \(version.versionName ?? "?")")
      try FileManager.default.removeItem(at: support)
    } else {
      told.append("zero pages of \(version.versionName ?? "?")")
      var data = try Data(contentsOf: version.storeURL)
      if data.count > 8192 { data.replaceSubrange(8192..., with: Data(count: data.count - 8192)) }
      try FileManager.default.removeItem(at: version.storeURL)
      try data.write(to: version.storeURL)
    }
  }
}
