import Foundation
import Heirloom
import HeirloomMigration
import HeirloomStore

extension CrashWorld {
  /// Checks the folder in which a set-aside store was returning, launches the app, and asks twice for the return.
  func faultOfAdopting(_ folder: String, _ promise: Promise, _ seen: StoreDump?) throws -> String? {
    guard let new else { return "the scenario has no store" }
    let isNew = seen?.isSameVersion(as: new) ?? false
    guard seen == old || isNew else { return "the store is neither the one that was there nor the one that returns" }
    if isNew, let fault = try faultOfReplaced(folder) { return fault }
    if isNew, CrashWorld.externalFiles(in: folder) != external { return "the store that returned lacks external files" }
    // Where no store was, the one that returns keeps what its file had.
    if old == nil, isNew, FileNote.read(store(folder)) != FileNote.expected { return "the store lacks an attribute" }
    if let fault = try faultOfSet(folder) { return fault }
    if promise.isMade, !isNew { return "what was reported as done is not" }
    // An app that doesn't know of the return launches and finds a store that it can use, or none.
    do {
      switch try app.launch(3, in: folder) {
      case .upToDate where exists(store(folder)): break
      case .noStore where old == nil && !isNew: break
      case let outcome: return "the next launch comes to \(outcome)"
      }
    } catch {
      return "the next launch fails: \(error)"
    }
    if isNew, try !isNoted(folder) { return "it is not noted that the set has returned" }
    do {
      try adopt(folder)
    } catch {
      return "the next run fails: \(error)"
    }
    if let fault = try faultAfterAdopting(folder) { return fault }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: store(folder)))
    guard case .putBackBefore = try adopt(folder) else { return "the set returns twice" }
    guard try Data(contentsOf: URL(fileURLWithPath: store(folder))) == bytes else { return "a further run writes" }
    return nil
  }

  @discardableResult
  private func adopt(_ folder: String) throws -> SetAsideOutcome {
    let assistant = app.assistant(3, in: folder).0
    guard let aside = try assistant.archive.setAsideStores().first else { throw CrashFailure("nothing is aside") }
    return try assistant.migrateSetAsideStore(aside)
  }

  private func isNoted(_ folder: String) throws -> Bool {
    try app.vault(in: folder).setAsideStores().first?.adoption != nil
  }

  private func faultOfReplaced(_ folder: String) throws -> String? {
    guard let old else { return nil }
    guard
      try folders(folder, "previous").contains(where: { version in
        let path = version + "/" + CrashApp.storeName
        return exists(path) ? try dumps.dump(path) == old : false
      })
    else { return "the set is in the store's place, and what was there is nowhere" }
    return nil
  }

  /// The set-aside store must be unchanged, or migrated with its source beside it.
  private func faultOfSet(_ folder: String) throws -> String? {
    let all = folders(folder, "incompatible")
    let sets = all.filter { exists($0 + "/" + CrashApp.storeName) }
    // A file of external data that was written in part when the power failed is moved aside, since it may be anybody's.
    for other in all where !sets.contains(other) {
      let inner = "/" + StoreLocation.supportName(forStore: CrashApp.storeName) + "/_EXTERNAL_DATA/"
      let files = CrashWorld.externalFiles(in: other)
      if files.isEmpty { return "a set without a store is aside" }
      for name in files
      where FileManager.default.contentsEqual(atPath: other + inner + name, andPath: (sets.first ?? "") + inner + name)
      {
        return "a whole file is aside alone"
      }
    }
    guard sets.count == 1, let set = sets.first, let aside, let new else { return "\(sets.count) sets are aside" }
    let path = set + "/" + CrashApp.storeName
    guard exists(path), let dump = try? dumpOfCopy(path) else { return "the set can't be read" }
    if CrashWorld.externalFiles(in: set) != external { return "the set lacks external files" }
    if dump == aside { return nil }
    guard dump.isSameVersion(as: new) else { return "the set holds something else" }
    let kept = path + ".heirloom/previous"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: kept)) ?? []
    guard versions.contains(where: { (try? dumps.dump("\(kept)/\($0)/\(CrashApp.storeName)")) == aside }) else {
      return "the set was migrated, and what it was is nowhere"
    }
    return nil
  }

  /// Reads a copy of a store with its side files, since reading replays them.
  func dumpOfCopy(_ path: String) throws -> StoreDump {
    let copy = try QuickFolder()
    for suffix in ["", "-wal", "-journal"] where exists(path + suffix) {
      try Data(contentsOf: URL(fileURLWithPath: path + suffix))
        .write(to: URL(fileURLWithPath: copy.path + "/" + CrashApp.storeName + suffix))
    }
    return try withExtendedLifetime(copy) { try dumps.dump(copy.path + "/" + CrashApp.storeName) }
  }

  private func faultAfterAdopting(_ folder: String) throws -> String? {
    guard let new, try StoreDump(store(folder)).isSameVersion(as: new) else {
      return "the next run does not bring the set back"
    }
    if try !isNoted(folder) { return "it is not noted that the set has returned" }
    if let fault = try faultOfReplaced(folder) ?? faultOfSet(folder) { return fault }
    // A version that an interrupted change left doesn't count as any other.
    let versions = try app.vault(in: folder).previousVersions().filter { $0.manifest?.operation != .undoing }
    guard versions.count == (old == nil ? 0 : 1) else { return "\(versions.count) versions are kept" }
    guard versions.allSatisfy({ $0.manifest?.isPinned == true }) else { return "the version can be pruned" }
    if CrashWorld.externalFiles(in: folder) != external { return "external files are missing" }
    if let left = leftovers(folder).first { return "“\(left)” is left over" }
    guard let set = folders(folder, "incompatible").first else { return "the set is gone" }
    let inner = set + "/" + CrashApp.storeName + ".heirloom"
    let names = try FileManager.default.contentsOfDirectory(atPath: inner)
    if let left = names.first(where: { !["lock", "previous", "incoming"].contains($0) }) {
      return "“\(left)” is left over in the set"
    }
    if try FileManager.default.contentsOfDirectory(atPath: inner + "/incoming") != [] { return "a candidate is left" }
    let previous = try FileManager.default.contentsOfDirectory(atPath: inner + "/previous").count
    if previous != 1 { return "\(previous) versions of the set are kept" }
    for path in [store(folder), set + "/" + CrashApp.storeName] + versions.compactMap(\.storePath) {
      if try POSIXFileOperations().status(of: path)?.linkCount != 1 { return "“\(path)” has two names" }
    }
    if try app.assistant(3, in: folder).1.snapshot()?.model != app.models[2] {
      return "the snapshot is not the store's"
    }
    return nil
  }
}
