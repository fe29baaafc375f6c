import Foundation
import Heirloom
import HeirloomSalvage

/// The paths around a store that advice can suggest.
struct StorePlace {
  let path: String

  init(_ path: String) { self.path = path }

  /// The snapshot beside the store; `nil` if none can be read.
  var snapshot: String? { Self.readable(snapshotPath) }

  var snapshotPath: String { ModelController(storeURL: URL(fileURLWithPath: path)).snapshotURL.path }

  /// The snapshot in the folder of a kept store, where a salvage finds it; `nil` if none can be read.
  private var keptSnapshot: String? {
    guard StoreLocation.keptFolder(of: path) != nil else { return nil }
    return Self.readable(PathText.join(PathText.split(path).folder, StoreLocation.snapshotName))
  }

  private static func readable(_ path: String) -> String? {
    (try? ModelFile(path).read()) == nil ? nil : path
  }

  /// Returns the snapshot that is kept with a version; `nil` if it can't be read.
  static func snapshot(of version: PreviousVersion) -> String? {
    readable(PathText.join(PathText.split(version.storeURL.path).folder, StoreLocation.snapshotName))
  }

  /// Returns an unused path beside the store: the store's name with another ending.
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

  /// The store's file; for a previous version, the file of its current store, because new files are not made among kept
  /// ones.
  private var outermost: String {
    guard StoreLocation.keptFolder(of: path) != nil,
      let companion = path.range(of: StoreLocation.companionSuffix + "/")
    else { return path }
    return String(path[..<companion.lowerBound])
  }

  /// Returns the command that reads `store`, or this one, into a new file beside this one; without models it finds one
  /// itself.
  func salvage(_ store: String? = nil, models: [String]) -> String {
    "heirloom salvage \(shellWord(store ?? path))" + models.map { " --model \(shellWord($0))" }.joined()
      + " --output \(shellWord(free("salvaged.sqlite")))"
  }

  /// Returns the command that repairs the store; without models it finds one itself.
  func repair(models: [String] = []) -> String {
    "heirloom repair \(shellWord(path))" + models.map { " --model \(shellWord($0))" }.joined()
  }

  /// True if a previous version or a set-aside store is kept beside the store, or if that can't be read.
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

  /// Returns the command that reads a previous version into a new file beside this one, with the model kept beside it.
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

  /// A model that is kept beside the store or its current version; `nil` if none can be read.
  var keptModel: String? {
    let store = StorePlace(outermost)
    let versions = (try? StoreArchive(path: store.path).previousVersions()) ?? []
    return versions.lazy.compactMap(Self.snapshot).first ?? store.snapshot
  }

  /// Returns the command that reads this store; `nil` if no model for it is known.
  func salvage() -> String? {
    knowsModel ? salvage(models: []) : keptModel.map { salvage(models: [$0]) }
  }
}
