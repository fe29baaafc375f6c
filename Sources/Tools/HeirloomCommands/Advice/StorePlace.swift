import Foundation
import Heirloom
import HeirloomSalvage

/// Paths around a store, and commands about it, that advice can suggest.
struct StorePlace {
  let path: String

  init(_ path: String) { self.path = path }

  var snapshot: String? { Self.readable(snapshotPath) }

  var snapshotPath: String { ModelController(storeURL: URL(fileURLWithPath: path)).snapshotURL.path }

  /// In the folder of a kept store, where a salvage finds it; `nil` if it can't be read.
  private var keptSnapshot: String? {
    guard StoreLocation.keptFolder(of: path) != nil else { return nil }
    return Self.readable(PathText.join(PathText.split(path).folder, StoreLocation.snapshotName))
  }

  private static func readable(_ path: String) -> String? {
    (try? ModelFile(path).read()) == nil ? nil : path
  }

  static func snapshot(of version: PreviousVersion) -> String? {
    readable(PathText.join(PathText.split(version.storeURL.path).folder, StoreLocation.snapshotName))
  }

  /// An unused path beside the store: the store's name with another ending.
  func free(_ end: String) -> String {
    let store = outermost
    let base = store.hasSuffix(".sqlite") ? String(store.dropLast(".sqlite".count)) : store
    let parts = end.split(separator: ".", maxSplits: 1).map(String.init)
    var (made, number) = ("\(base).\(end)", 1)
    while FileManager.default.fileExists(atPath: made) {
      number += 1
      made = "\(base).\(parts[0])-\(number).\(parts[1])"
    }
    return made
  }

  /// For a previous version, the current store's file, because new files are not made among kept
  /// ones.
  private var outermost: String {
    guard StoreLocation.keptFolder(of: path) != nil,
      let companion = path.range(of: StoreLocation.companionSuffix + "/")
    else { return path }
    return String(path[..<companion.lowerBound])
  }

  /// Without models, the command finds one itself.
  func salvage(_ store: String? = nil, models: [String]) -> String {
    "heirloom salvage \(shellWord(store ?? path))" + models.map { " --model \(shellWord($0))" }.joined()
      + " --output \(shellWord(free("salvaged.sqlite")))"
  }

  func repair(models: [String] = []) -> String {
    "heirloom repair \(shellWord(path))" + models.map { " --model \(shellWord($0))" }.joined()
  }

  /// True if a previous version or a set-aside store is kept, or if that can't be read.
  var keepsSomething: Bool {
    let archive = StoreArchive(path: path)
    guard let versions = try? archive.previousVersions(), let sets = try? archive.movedAside() else { return true }
    return !versions.isEmpty || !sets.isEmpty
  }

  /// True if another store's external data is in the same folder, as for `S.db` beside `S.sqlite`.
  var sharesSupport: Bool {
    let (folder, name) = PathText.split(path)
    let own = Set([name] + StoreLocation.sideSuffixes.map { name + $0 })
    let (support, files) = (StoreLocation.supportName(forStore: name), POSIXFileOperations())
    return ((try? files.names(in: folder)) ?? []).contains { other in
      !own.contains(other) && StoreLocation.supportName(forStore: other) == support
        && (try? files.status(of: PathText.join(folder, other)))?.kind == .regular
    }
  }

  var holdsPages: Bool { StoreSalvage.holdsPages(path) }

  func salvage(ofKept store: String, otherwise models: [String] = []) -> String {
    let model = PathText.join(PathText.split(store).folder, StoreLocation.snapshotName)
    return salvage(store, models: FileManager.default.fileExists(atPath: model) ? [model] : models)
  }

  /// True if a salvage finds a model by itself: beside the store or in its model cache.
  var knowsModel: Bool {
    if snapshot != nil || keptSnapshot != nil { return true }
    let cached = try? StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
      try StoreModelCache.model(connection: connection, path: path)
    }
    return cached ?? nil != nil
  }

  var keptModel: String? {
    let store = StorePlace(outermost)
    let versions = (try? StoreArchive(path: store.path).previousVersions()) ?? []
    return versions.lazy.compactMap(Self.snapshot).first ?? store.snapshot
  }

  func salvage() -> String? {
    knowsModel ? salvage(models: []) : keptModel.map { salvage(models: [$0]) }
  }
}
