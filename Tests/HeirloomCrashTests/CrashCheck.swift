import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomStore

extension CrashWorld {
  /// The result that an operation reported before the crash.
  enum Promise {
    case nothing
    /// Neither it nor a launch after it reached its end; the launch may have removed versions that are replaced.
    case nothingAgain
    /// It reached its end, and something that may be done later may be left.
    case result
    case all

    var isMade: Bool { self == .result || self == .all }
  }

  func store(_ folder: String) -> String { folder + "/" + CrashApp.storeName }

  func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// Checks the folder as the power failure left it, and then launches the app again, twice.
  func firstFault(
    in folder: String, promise: Promise, known: inout [[DiskState.File]: StoreDump?], state: DiskState? = nil
  ) -> String? {
    do {
      switch scenario.operation {
      case .setAside: return try faultOfSettingAside(folder, promise)
      case .restoreLost: return try faultOfRestoringLost(folder, promise)
      case .adopt, .adoptAlone, .migrateAndAdopt:
        let seen = exists(store(folder)) ? try dumpForPlainOpener(folder, &known, state) : nil
        return try faultOfAdopting(folder, promise, seen)
      case .cleanUp: return try faultOfCleaningUp(folder, promise)
      case .salvage: return try faultOfSalvage(folder, promise)
      case .migrate, .migrateAlone, .migrateDeciding, .giveUp, .giveUpDeciding, .restore, .archive, .prune:
        let seen = try dumpForPlainOpener(folder, &known, state)
        if let fault = try faultBeforeLaunch(folder, promise, seen) { return fault }
        do {
          try launchNext(folder, seen: seen)
        } catch {
          return "the next launch fails: \(error)"
        }
        return try faultAfterLaunch(folder)
      }
    } catch {
      return "the check fails: \(error)"
    }
  }

  /// True when a launch must first let SQLite undo a change, and leaves removing versions to the next one.
  private var isUndoneFirst: Bool { scenario.initial == .hotJournal }

  // MARK: Before

  /// What an app sees that doesn't know of us; a copy is read, since reading replays side files.
  private func dumpForPlainOpener(
    _ folder: String, _ known: inout [[DiskState.File]: StoreDump?], _ state: DiskState?
  ) throws -> StoreDump {
    let names = ["", "-wal", "-journal"].map { CrashApp.storeName + $0 }
    let key = state?.files.filter { names.contains($0.path) }.map {
      DiskState.File(path: $0.path, inode: 0, content: $0.content)
    }
    if let key, let dump = known[key], let dump { return dump }
    guard exists(store(folder)) else { throw CrashFailure("there is no store") }
    let copy = try QuickFolder()
    for name in names where exists(folder + "/" + name) {
      try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
        .write(to: URL(fileURLWithPath: copy.path + "/" + name))
    }
    let dump = try StoreDump(copy.path + "/" + CrashApp.storeName)
    if let key { known[key] = dump }
    return dump
  }

  private func faultBeforeLaunch(_ folder: String, _ promise: Promise, _ seen: StoreDump) throws -> String? {
    guard let old, let new else { return "the scenario has no store" }
    let isNew = seen.isSameVersion(as: new)
    if isNew, scenario.hasQuarantine, try CrashWorld.quarantined(in: folder) != quarantined {
      return "the new store is there, and the rows that it has no place for are not"
    }
    guard seen == old || isNew else { return "the store is neither the old nor the new one" }
    if FileNote.read(store(folder)) != FileNote.expected { return "the store lacks an attribute that its file had" }
    let keepsOld = !old.isSameVersion(as: new)
    if isNew, keepsOld {
      // An empty one is harmless: SQLite leaves it if its own clean-up met an error.
      for suffix in ["-wal", "-journal"]
      where (try POSIXFileOperations().status(of: store(folder) + suffix)?.size ?? 0) > 0 {
        return "the old store's “\(suffix)” is beside the new store"
      }
      guard folders(folder, "previous").contains(where: { isOld($0) }) else {
        return "the new store is there, and the old one is not"
      }
    }
    for kept in kept.suffix(promise == .nothingAgain && isNew && keepsOld ? 0 : 1) {
      guard folders(folder, "previous").contains(where: { (try? dumps.dump($0 + "/" + CrashApp.storeName)) == kept })
      else {
        return "the newest version kept before is gone"
      }
    }
    if !exists(store(folder) + ".heirloom/manifest.json"), scenario.initial != .staleCandidate,
      try POSIXFileOperations().status(of: store(folder))?.linkCount != 1
    {
      return "the store has a second name that no record tells of"
    }
    let snapshot = try? app.assistant(3, in: folder).1.snapshot()?.model
    if self.snapshot != nil, snapshot == nil { return "the snapshot is gone" }
    if let snapshot, !app.models.contains(snapshot) { return "the snapshot is nobody's" }
    guard promise.isMade else { return nil }
    if !isNew { return "what was reported as done is not" }
    if [.archive, .migrate, .migrateDeciding].contains(scenario.operation), snapshot != app.models[2] {
      return "what was reported as archived is not"
    }
    if promise == .all {
      if scenario.operation != .archive, exists(store(folder) + ".heirloom/manifest.json") {
        return "what was reported as finished is not"
      }
      if scenario.operation == .prune, !isUndoneFirst, folders(folder, "previous").count != 1 {
        return "what was reported as pruned is not"
      }
    }
    return nil
  }

  func folders(_ folder: String, _ name: String) -> [String] {
    let parent = store(folder) + ".heirloom/" + name
    return ((try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []).sorted().map { parent + "/" + $0 }
  }

  private func isOld(_ folder: String) -> Bool {
    guard let old, exists(folder + "/" + CrashApp.storeName) else { return false }
    // This reads a copy: SQLite would undo a journal's change, and remove one of its names.
    return FileNote.read(folder + "/" + CrashApp.storeName) == FileNote.expected
      && (try? dumpOfCopy(folder + "/" + CrashApp.storeName)) == old
      && CrashWorld.externalFiles(in: folder) == external
  }

  // MARK: After

  private func launchNext(_ folder: String, seen: StoreDump) throws {
    guard scenario.operation == .restore else {
      if scenario.operation == .prune { try app.testVersionsAnew(in: folder) }
      try app.launch(3, in: folder)
      if scenario.operation == .prune, isUndoneFirst { try app.launch(3, in: folder) }
      return
    }
    // A person who has restored the version goes on with the app that fits it.
    if let new, seen.isSameVersion(as: new) {
      try app.launch(newVersion, in: folder)
    } else {
      try app.launch(3, in: folder)
      _ = try app.assistant(3, in: folder).0.archive.restorePreviousVersion()
    }
  }

  private func faultAfterLaunch(_ folder: String) throws -> String? {
    guard let old, let new else { return "the scenario has no store" }
    guard let after = try? StoreDump(store(folder)) else { return "the next launch leaves no readable store" }
    guard after.isSameVersion(as: new) else { return "the next launch does not come to the new store" }
    if scenario.hasQuarantine, try CrashWorld.quarantined(in: folder) != quarantined {
      return "the rows that the new store has no place for are not there once"
    }
    let versions = try app.vault(in: folder).previousVersions()
    for version in versions {
      guard version.manifest != nil, let path = version.storePath, let dump = try? dumps.dump(path) else {
        return "the version \(version.name.text) is not whole"
      }
      guard dump == old || kept.contains(dump) else { return "the version \(version.name.text) is nobody's" }
      let snapshot = URL(fileURLWithPath: version.path + "/model.json.gz")
      // The store can't be asked for its model before an interrupted change is undone.
      guard try version.manifest?.operation == .undoing || ModelController(snapshotURL: snapshot).snapshot() != nil
      else {
        return "the version \(version.name.text) has no model"
      }
      if CrashWorld.externalFiles(in: version.path) != external { return "a version lacks external files" }
      if try POSIXFileOperations().status(of: path)?.linkCount != 1 { return "a version's store has two names" }
    }
    if !old.isSameVersion(as: new) {
      guard let newest = versions.last?.storePath, try dumps.dump(newest) == old else {
        return "the newest version is not the store before"
      }
    }
    // A version that an interrupted change left doesn't count as any other.
    let counted = versions.filter { $0.manifest?.operation != .undoing }
    if scenario.operation == .prune, counted.count != 1 { return "\(counted.count) versions are kept" }
    if isUndoneFirst, counted.count == versions.count { return "the store as the interrupted change left it is gone" }
    if scenario.initial == .unreadableLog, !old.isSameVersion(as: new),
      !versions.contains(where: { exists("\($0.storePath ?? "")-wal.unread") })
    {
      return "the log that could not be read is gone"
    }
    if old.isSameVersion(as: new), let newest = kept.last {
      // Otherwise the launch was right to remove it, as a newer one is there.
      let found = try versions.compactMap(\.storePath).map { try dumps.dump($0) }
      guard found.contains(newest) else { return "a version kept before is gone" }
    }
    let snapshot = try app.assistant(3, in: folder).1.snapshot()?.model
    if snapshot != app.models[newVersion - 1] { return "the snapshot is not that of the store" }
    if let left = leftovers(folder).first { return "“\(left)” is left over" }
    if CrashWorld.externalFiles(in: folder) != external { return "external files are missing" }
    if try POSIXFileOperations().status(of: store(folder))?.linkCount != 1 { return "the store has two names" }
    if FileNote.read(store(folder)) != FileNote.expected { return "the store lacks an attribute afterwards" }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: store(folder)))
    guard case .upToDate = try app.launch(newVersion, in: folder) else { return "the second launch migrates again" }
    if try Data(contentsOf: URL(fileURLWithPath: store(folder))) != bytes { return "the second launch writes" }
    return nil
  }

  func leftovers(_ folder: String) -> [String] {
    let companion = store(folder) + ".heirloom"
    let expected =
      ["lock", "previous", "incoming", "incompatible", "model.json.gz"] + (scenario.hasQuarantine ? ["quarantine"] : [])
    var found = ((try? FileManager.default.contentsOfDirectory(atPath: companion)) ?? []).filter {
      !expected.contains($0)
    }
    found += ((try? FileManager.default.contentsOfDirectory(atPath: companion + "/incoming")) ?? [])
    found += folders(folder, "previous").filter { !exists($0 + "/manifest.json") }
    var set = [
      CrashApp.storeName, CrashApp.storeName + "-wal", CrashApp.storeName + "-shm", CrashApp.storeName + ".heirloom",
      StoreLocation.supportName(forStore: CrashApp.storeName),
    ]
    // A journal that holds nothing is the app's, as long as no other store takes its store's place.
    let keepsPlace = scenario.operation == .setAside && exists(store(folder))
    if scenario.operation == .archive || scenario.operation == .prune || keepsPlace {
      set.append(CrashApp.storeName + "-journal")
    }
    found += ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { !set.contains($0) }
    return found
  }

  // MARK: Without a store at the end, or at the beginning

  private func faultOfSettingAside(_ folder: String, _ promise: Promise) throws -> String? {
    func isWhole() -> Bool { isOld(folder) || folders(folder, "incompatible").contains { isOld($0) } }
    guard isWhole() else { return "the set is nowhere whole" }
    if promise.isMade, exists(store(folder)) { return "what was reported as done is not" }
    do {
      if exists(store(folder)) {
        try app.vault(in: folder).recover()
      } else {
        // An app that finds no store still launches.
        guard case .noStore = try app.assistant(3, in: folder).0.migrateStore() else { return "there is a store" }
      }
    } catch {
      return "recovery fails: \(error)"
    }
    guard isWhole() else { return "recovery loses it" }
    if let left = leftovers(folder).first { return "“\(left)” is left over" }
    let isAside = !exists(store(folder))
    if folders(folder, "incompatible").count != (isAside ? 1 : 0) { return "more than one set is aside" }
    let notices = try app.vault(in: folder).setAsideStores().map(\.notice)
    if notices != (isAside ? [[1, 2, 3]] : []) { return "what is to be told of the set is lost" }
    return nil
  }

  private func faultOfRestoringLost(_ folder: String, _ promise: Promise) throws -> String? {
    if exists(store(folder)) {
      if exists(store(folder) + "-wal") { return "a -wal of the lost store is beside the new one" }
      guard let new, try StoreDump(store(folder)).isSameVersion(as: new) else { return "the store is not whole" }
      if CrashWorld.externalFiles(in: folder) != CrashWorld.externalNames { return "an external file is missing" }
      if FileNote.read(store(folder)) != FileNote.expected {
        return "the store lacks an attribute that its version has"
      }
    } else if promise.isMade {
      return "what was reported as done is not"
    }
    let lost = folders(folder, "incompatible").map { $0 + "/\(CrashApp.storeName)-wal" } + [store(folder) + "-wal"]
    guard lost.contains(where: { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == Data([7, 7]) }) else {
      return "the side file of the lost store is gone"
    }
    for kept in kept {
      guard folders(folder, "previous").contains(where: { (try? dumps.dump($0 + "/" + CrashApp.storeName)) == kept })
      else {
        return "the version is not whole"
      }
    }
    do {
      if exists(store(folder)) {
        try app.vault(in: folder).recover()
      } else {
        _ = try app.assistant(3, in: folder).0.archive.restorePreviousVersion()
      }
    } catch {
      return "the next run fails: \(error)"
    }
    guard let new, let after = try? StoreDump(store(folder)), after.isSameVersion(as: new) else {
      return "the next run does not bring the store back"
    }
    if let left = leftovers(folder).first { return "“\(left)” is left over" }
    if try POSIXFileOperations().status(of: store(folder))?.linkCount != 1 { return "the store has two names" }
    return nil
  }
}
