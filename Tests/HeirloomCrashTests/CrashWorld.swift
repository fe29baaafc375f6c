import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import TestSupport

/// A scenario made real: the folder before the operation, its contents, and the result of the operation.
struct CrashWorld {
  let scenario: CrashScenario
  let app: CrashApp
  let table = ContentTable()
  let dumps = StoreDumps()
  let beginning: DiskModel
  let old: StoreDump?
  let new: StoreDump?
  let aside: StoreDump?
  let kept: [StoreDump]
  /// The objects of the store before the operation, if they must not change.
  let contents: StoreContents?
  /// The number of the app's version that fits the store afterwards.
  let newVersion: Int
  let snapshot: ManagedObjectModel?
  /// The files of a damaged store, by their suffix; none if it is sound.
  let damaged: [String: Data]
  let salvaged: StoreDump?
  let external: [String]
  /// The lines that the file with quarantined rows must hold, sorted; none if there is no such file.
  let quarantined: [String]

  init(_ scenario: CrashScenario) throws {
    self.scenario = scenario
    let found =
      scenario.hasQuarantine ? CrashApp.deciding : scenario.deferral == .none ? CrashApp.shared : CrashApp.dropping
    var app = try found.get()
    app.code = scenario.code
    app.deferral = scenario.deferral
    self.app = app
    let folder = try QuickFolder()
    try Self.prepare(scenario, app, in: folder.path)
    beginning = try DiskModel(folder.path)
    let isDamaged = scenario.operation == .salvage
    damaged = isDamaged ? try Self.storeFiles(in: folder.path) : [:]
    let vault = try app.vault(in: folder.path)
    let set = try vault.setAsideStores().first?.path
    external = Self.externalFiles(in: set ?? folder.path)
    aside = try set.map { try StoreDump($0 + "/" + CrashApp.storeName) }
    kept = try vault.previousVersions().map { version in
      guard let path = version.storePath else { throw CrashFailure("a version without a store") }
      return try StoreDump(path)
    }
    snapshot = try app.assistant(3, in: folder.path).1.snapshot()?.model
    old =
      !isDamaged && FileManager.default.fileExists(atPath: vault.location.path)
      ? try StoreDump(vault.location.path) : nil
    contents =
      scenario.operation == .cleanUp
      ? try StoreContents(of: URL(fileURLWithPath: vault.location.path), model: app.models[2]) : nil
    // This uses a copy: the dump above has replayed what the operation must find.
    let copy = try QuickFolder()
    try Self.write(beginning, table, to: copy.path)
    let trace = try SystemTrace(root: copy.path, seed: 9)
    let world = (scenario: scenario, app: app)
    do {
      try Self.perform(world.scenario, world.app, in: copy.path, trace: trace)
      guard !scenario.isGivenUp else { throw CrashFailure("the operation was not given up") }
    } catch let error as MigrationAssistantError where scenario.isGivenUp {
      _ = error
      try world.app.launch(3, in: copy.path)
    }
    trace.close()
    let path = copy.path + "/" + CrashApp.storeName
    new = !isDamaged && FileManager.default.fileExists(atPath: path) ? try StoreDump(path) : nil
    salvaged = isDamaged ? try StoreDump(copy.path + "/" + CrashApp.salvagedName) : nil
    let hashes = new == nil ? nil : try StoreMetadata(contentsOf: URL(fileURLWithPath: path)).versionHashes
    newVersion = 1 + (world.app.models.firstIndex { $0.versionHashes() == hashes } ?? 0)
    quarantined = try Self.quarantined(in: copy.path)
    guard quarantined.isEmpty != scenario.hasQuarantine else { throw CrashFailure("no rows are in quarantine") }
    withExtendedLifetime((folder, copy)) {}
  }

  static func quarantined(in folder: String) throws -> [String] {
    let path = folder + "/" + CrashApp.storeName + ".heirloom/quarantine"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return try names.flatMap { name in
      try String(contentsOfFile: path + "/" + name, encoding: .utf8).split(separator: "\n").map(String.init)
    }.sorted()
  }

  /// The second has a byte that is not UTF-8.
  static let externalNames = ["FILE-0", "FILE-\u{10FFFF}"]

  func write(to folder: String) throws {
    try Self.write(beginning, table, to: folder)
  }

  private static func write(_ model: DiskModel, _ table: ContentTable, to folder: String) throws {
    var seen: Set<DiskState> = []
    var random = SplitMix64(seed: 1)
    for state in model.newStates(table, random: &random, seen: &seen).states { try state.write(to: folder, table) }
  }

  static func externalFiles(in folder: String) -> [String] {
    let inner = folder + "/" + StoreLocation.supportName(forStore: CrashApp.storeName) + "/_EXTERNAL_DATA"
    let files = POSIXFileOperations()
    return ((try? files.names(in: inner)) ?? []).filter { (try? files.status(of: inner + "/" + $0))?.kind == .regular }
  }

  // MARK: The operation

  func perform(in folder: String, trace: SystemTrace, mutant: ProtocolMutant? = nil) throws {
    try Self.perform(scenario, app, in: folder, trace: trace, mutant: mutant)
  }

  private static func perform(
    _ scenario: CrashScenario, _ app: CrashApp, in folder: String, trace: SystemTrace, mutant: ProtocolMutant? = nil
  ) throws {
    let files = MutantFiles(
      TracedFiles(trace, refusesLinks: scenario.refusesLinks), trace: trace, mutant: mutant,
      atCommit: scenario.isGivenUp ? .fails : .passes)
    switch scenario.operation {
    case .migrate, .migrateDeciding, .giveUp, .giveUpDeciding, .prune:
      if scenario.operation == .prune { try app.testVersionsAnew(in: folder) }
      try app.launch(3, in: folder, files: files, builder: scenario.builder)
    case .migrateAlone: try app.launch(3, in: folder, files: files, builder: scenario.builder, archives: false)
    case .restore, .restoreLost:
      _ = try app.assistant(3, in: folder, files: files).0.archive.restorePreviousVersion()
    case .archive:
      try app.assistant(3, in: folder, files: files).1.archive(app.models[2])
    case .setAside:
      _ = try app.vault(in: folder, files: files).setStoreAside(notice: [1, 2, 3])
    case .adopt, .adoptAlone, .migrateAndAdopt:
      let assistant = app.assistant(3, in: folder, files: files, builder: scenario.builder).0
      guard let aside = try assistant.archive.setAsideStores().first else { throw CrashFailure("nothing is aside") }
      _ = try assistant.migrateSetAsideStore(aside)
    case .cleanUp: try app.cleanUp(in: folder)
    case .salvage: try app.salvage(in: folder, files: files)
    }
  }

  /// The next launch does this first.
  func recover(in folder: String, trace: SystemTrace) throws {
    try app.vault(in: folder, files: TracedFiles(trace, refusesLinks: scenario.refusesLinks)).recover()
  }

  /// Does what comes after an interrupted operation: the next launch, or the same again if it did not reach its point.
  func goOn(in folder: String, trace: SystemTrace) throws {
    let url = URL(fileURLWithPath: folder + "/" + CrashApp.storeName)
    let files = TracedFiles(trace, refusesLinks: scenario.refusesLinks)
    switch scenario.operation {
    case .restore where try StoreMetadata(contentsOf: url).isCompatible(with: app.models[newVersion - 1]):
      try app.launch(newVersion, in: folder, files: files)
    case .restoreLost where FileManager.default.fileExists(atPath: url.path): try recover(in: folder, trace: trace)
    default: try perform(in: folder, trace: trace)
    }
  }

  // MARK: The beginning

  private static func prepare(_ scenario: CrashScenario, _ app: CrashApp, in folder: String) throws {
    let store = folder + "/" + CrashApp.storeName
    try Data(app.store).write(to: URL(fileURLWithPath: store))
    FileNote.write(FileNote.expected, store)
    if scenario.initial == .externalData {
      let inner = folder + "/" + StoreLocation.supportName(forStore: CrashApp.storeName) + "/_EXTERNAL_DATA"
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
      // There is only one file where stores add some: each name that is not yet on the disk doubles the states.
      for number in 0..<(scenario.isAdopting ? 1 : 2) {
        try POSIXFileOperations().writeNewFile(
          "\(inner)/\(externalNames[number])", bytes: [UInt8](repeating: UInt8(number + 1), count: 700),
          attributes: FileAttributes(mode: 0o644))
      }
      // The link is kept nowhere and goes nowhere.
      try FileManager.default.createSymbolicLink(atPath: inner + "/LINK", withDestinationPath: "FILE-0")
    }
    let isDue = scenario.initial == .archiveDue
    let hasVersion = scenario.initial == .previousVersion
    switch scenario.operation {
    case .migrate, .migrateAlone, .migrateDeciding, .giveUp, .giveUpDeciding, .setAside:
      if hasVersion || scenario.deferral == .finds { try app.launch(2, in: folder) }
      if isDue { try app.assistant(1, in: folder).1.archive(app.models[0]) }
    case .adopt, .adoptAlone, .migrateAndAdopt:
      _ = try app.vault(in: folder).setStoreAside(notice: [1, 2, 3])
      let assistant = app.assistant(3, in: folder).0
      if scenario.operation != .migrateAndAdopt, let aside = try assistant.archive.setAsideStores().first {
        _ = try assistant.migrateSetAsideStoreWhereItLies(aside)
      }
      if scenario.operation != .adoptAlone { try app.makeStore(in: folder) }
    case .cleanUp: try app.launch(3, in: folder)
    case .salvage: break
    case .restore, .restoreLost:
      if hasVersion { try app.launch(2, in: folder) }
      try app.launch(3, in: folder, archives: !isDue)
    case .archive:
      if hasVersion { try app.launch(2, in: folder) }
      if isDue { try app.assistant(1, in: folder).1.archive(app.models[0]) }
      try app.launch(3, in: folder, archives: false)
    case .prune:
      try app.launch(2, in: folder)
      try app.launch(3, in: folder, archives: !isDue)
      if hasVersion {
        let archive = app.assistant(3, in: folder).0.archive
        // What going back replaced is pinned, until somebody lets it go.
        if let replaced = try archive.restorePreviousVersion().previous {
          try archive.releasePreviousVersion(replaced.id)
        }
        try app.launch(3, in: folder)
      }
    }
    if scenario.initial == .staleCandidate {
      try interrupt(in: folder) { files, folder in
        if scenario.operation == .migrate || scenario.isGivenUp || scenario.hasQuarantine
          || scenario.operation == .setAside
        {
          try app.launch(3, in: folder, files: files, builder: scenario.builder)
        } else {
          _ = try app.assistant(3, in: folder, files: files).0.archive.restorePreviousVersion("2")
        }
      }
    }
    if scenario.operation != .adoptAlone { try StoreShape(store).make(scenario.initial) }
    if scenario.operation == .salvage { try damage(store) }
    guard scenario.operation == .restoreLost else { return }
    try FileManager.default.removeItem(atPath: store)
    let inner = folder + "/" + StoreLocation.supportName(forStore: CrashApp.storeName) + "/_EXTERNAL_DATA"
    try? FileManager.default.removeItem(atPath: inner + "/FILE-0")
    try Data([7, 7]).write(to: URL(fileURLWithPath: store + "-wal"))
  }

  private static func damage(_ store: String) throws {
    let url = URL(fileURLWithPath: store)
    var bytes = try Data(contentsOf: url)
    guard bytes.count >= 8 * 4096 else { throw CrashFailure("the store is too small to be damaged") }
    let start = bytes.count / 4096 / 2 * 4096
    bytes.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
    try bytes.write(to: url)
  }

  static func storeFiles(in folder: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for suffix in ["", "-wal", "-journal"] {
      let path = folder + "/" + CrashApp.storeName + suffix
      if FileManager.default.fileExists(atPath: path) {
        files[suffix] = try Data(contentsOf: URL(fileURLWithPath: path))
      }
    }
    return files
  }

  /// The process dies at the commit point: the candidate is complete, and the store is the old one.
  private static func interrupt(
    in folder: String, _ operation: (_ files: any FileOperations, _ folder: String) throws -> Void
  ) throws {
    let trace = try SystemTrace(root: folder, seed: 5)
    defer { trace.close() }
    do {
      try operation(MutantFiles(TracedFiles(trace), trace: trace, atCommit: .dies), folder)
    } catch {
      return
    }
    throw CrashFailure("the operation has no commit point")
  }
}
