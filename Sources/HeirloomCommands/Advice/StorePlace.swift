import Foundation
import Heirloom
import HeirloomSalvage

/// The paths around a store that advice can name.
struct StorePlace {
  /// The store's file.
  let path: String

  init(_ path: String) { self.path = path }

  /// The snapshot beside the store; `nil` if none can be read.
  var snapshot: String? { Self.readable(snapshotPath) }

  /// The place of the snapshot beside the store.
  var snapshotPath: String { ModelController(storeURL: URL(fileURLWithPath: path)).snapshotURL.path }

  /// The snapshot in the folder of a kept store, where a salvage finds it; `nil` if none can be read.
  private var keptSnapshot: String? {
    guard StoreLocation.keptFolder(of: path) != nil else { return nil }
    return Self.readable(PathText.join(PathText.split(path).folder, StoreLocation.snapshotName))
  }

  /// Returns the path of a snapshot, if it can be read.
  private static func readable(_ path: String) -> String? {
    (try? ModelFile(path).read()) == nil ? nil : path
  }

  /// Returns the snapshot that is kept with a version; `nil` if it can't be read.
  static func snapshot(of version: PreviousVersion) -> String? {
    readable(PathText.join(PathText.split(version.storeURL.path).folder, StoreLocation.snapshotName))
  }

  /// Returns a path beside the store where nothing is: the store's name with another end.
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

  /// The store's file; for a kept one, that of the store that it is kept for: nothing new is made among what is kept.
  private var outermost: String {
    guard StoreLocation.keptFolder(of: path) != nil,
      let companion = path.range(of: StoreLocation.companionSuffix + "/")
    else { return path }
    return String(path[..<companion.lowerBound])
  }

  /// Returns the command that reads a store into a new file beside this one.
  ///
  /// - Parameters:
  ///   - store: The store's file; `nil` for this one.
  ///   - models: The models that it is given; none where it finds one itself.
  /// - Returns: The command.
  func salvage(_ store: String? = nil, models: [String]) -> String {
    "heirloom salvage \(shellWord(store ?? path))" + models.map { " --model \(shellWord($0))" }.joined()
      + " --output \(shellWord(free("salvaged.sqlite")))"
  }

  /// Returns the command that repairs the store.
  ///
  /// - Parameter models: The models that it is given; none where it finds one itself.
  /// - Returns: The command.
  func repair(models: [String] = []) -> String {
    "heirloom repair \(shellWord(path))" + models.map { " --model \(shellWord($0))" }.joined()
  }

  /// True if a previous version or a set-aside store is kept beside the store, or if that can't be told.
  var keepsSomething: Bool {
    let archive = StoreArchive(path: path)
    guard let versions = try? archive.previousVersions(), let sets = try? archive.movedAside() else { return true }
    return !versions.isEmpty || !sets.isEmpty
  }

  /// True if another file of the folder has its external data in the same folder, such as `S.db` beside `S.sqlite`.
  var sharesSupport: Bool {
    let (folder, name) = PathText.split(path)
    let own = Set([name] + StoreLocation.sideSuffixes.map { name + $0 })
    let (support, files) = (StoreLocation.supportName(forStore: name), POSIXFileOperations())
    return ((try? files.names(in: folder)) ?? []).contains { other in
      !own.contains(other) && StoreLocation.supportName(forStore: other) == support
        && (try? files.status(of: PathText.join(folder, other)))?.kind == .regular
    }
  }

  /// True if something may be salvaged from the store's file.
  var holdsPages: Bool { StoreSalvage.holdsPages(path) }

  /// Returns the command that reads a kept store into a new file beside this one, by the model that is kept with it.
  func salvage(ofKept store: String, otherwise models: [String] = []) -> String {
    let model = PathText.join(PathText.split(store).folder, StoreLocation.snapshotName)
    return salvage(store, models: FileManager.default.fileExists(atPath: model) ? [model] : models)
  }

  /// True if a model is beside the store or in it, where a salvage finds it.
  var knowsModel: Bool {
    if snapshot != nil || keptSnapshot != nil { return true }
    let cached = try? StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
      try StoreModelCache.model(connection: connection, path: path)
    }
    return cached ?? nil != nil
  }

  /// A model that is kept beside the store, or beside the one that it is kept for; `nil` if none can be read.
  var keptModel: String? {
    let store = StorePlace(outermost)
    let versions = (try? StoreArchive(path: store.path).previousVersions()) ?? []
    return versions.lazy.compactMap(Self.snapshot).first ?? store.snapshot
  }

  /// Returns the command that reads this store; `nil` if no model is known that it could be given.
  func salvage() -> String? {
    knowsModel ? salvage(models: []) : keptModel.map { salvage(models: [$0]) }
  }
}
