import Foundation
import Heirloom

/// Many small stores, such as a server's with one for each tenant, each in its own folder.
///
/// Most are copies of a few generated originals: equal seeds give equal bytes.
final class FleetStores {
  private static let noteCounts = [20, 24, 28, 33, 37, 42, 46, 50]
  private static let storeName = "Notes.sqlite"

  let count: Int
  /// The folder with both versions of the model.
  let modelPath: String
  let meanByteCount: Int64

  private let folder: BenchmarkFolder
  private let originals: [String]
  private let originalSums: [StoreSums]
  /// By original, after the migration; the first checked run fills it.
  private var migratedSums: [Int: StoreSums] = [:]
  private let files = POSIXFileOperations()

  init(count: Int, seed: UInt64, in folder: BenchmarkFolder) throws {
    self.count = count
    self.folder = folder
    let earlier = try BenchmarkModels.notes()
    let models = try folder.emptyFolder("fleet-models")
    for (name, model) in [("Notes-1", earlier), ("Notes-2", try MigrationWorkload.additive.destination())] {
      try files.writeNewFile(
        PathText.join(models, name + ".json"), bytes: try ModelSnapshot(model: model).bytes(.readable),
        attributes: FileAttributes(mode: 0o644))
    }
    modelPath = models
    let place = try folder.emptyFolder("fleet-originals")
    var originals: [String] = []
    var sums: [StoreSums] = []
    var size: Int64 = 0
    for (index, notes) in Self.noteCounts.enumerated() {
      let path = PathText.join(place, "\(index).sqlite")
      try StoreGenerator(notes: notes, seed: seed &+ UInt64(index)).makeStore(at: path)
      originals.append(path)
      sums.append(try StoreSums(of: path, model: earlier))
      size += try files.status(of: path)?.size ?? 0
    }
    self.originals = originals
    originalSums = sums
    meanByteCount = size / Int64(originals.count)
  }

  /// Lets the stores come to rest; returns the file that lists them, one path per line.
  func make() throws -> String {
    let place = try folder.emptyFolder("fleet")
    let held = try originals.map { try files.hold($0) }
    defer { for file in held { file.close() } }
    var list = ""
    for index in 0..<count {
      let path = path(of: index, in: place)
      try files.makeDirectory(String(path.dropLast(Self.storeName.count + 1)), attributes: FileAttributes(mode: 0o755))
      try held[index % held.count].copyWithoutSync(to: path, attributes: FileAttributes(mode: 0o644)) { _ in true }
      list += path + "\n"
    }
    let listPath = folder.file("fleet-list")
    if try files.status(of: listPath) != nil { try files.unlink(listPath) }
    try files.writeNewFile(listPath, bytes: Array(list.utf8), attributes: FileAttributes(mode: 0o644))
    // A server's stores are at rest: writing them isn't part of a migration.
    sync()
    Thread.sleep(forTimeInterval: VaultConfiguration().restTime + 0.5)
    return listPath
  }

  // An odd stride reaches copies of every original.
  private var checked: [Int] { Array(stride(from: 0, to: count, by: max(1, count / 1000) | 1)) }

  var checkedCount: Int { checked.count }

  /// Compares some stores, evenly spread, and their previous versions with those of earlier runs.
  ///
  /// With `isByHand`, the stores have no vault.
  func check(isByHand: Bool) throws {
    let (earlier, later) = (try BenchmarkModels.notes(), try MigrationWorkload.additive.destination())
    let place = folder.file("fleet")
    for index in checked {
      let path = path(of: index, in: place)
      let original = index % originals.count
      let sums = try StoreSums(of: path, model: later, after: .additive)
      try sums.check(against: migratedSums[original] ?? sums)
      migratedSums[original] = sums
      let kept = isByHand ? HandWrittenFleet.keptPath(path) : try keptPath(path)
      try StoreSums(of: kept, model: earlier).check(against: originalSums[original])
    }
  }

  private func keptPath(_ path: String) throws -> String {
    let kept = try StoreVault(StoreLocation(resolving: path, files: files), files: files).previousVersions()
    guard kept.count == 1, let store = kept[0].storePath else {
      throw BenchmarkError.differentContents(
        subject: "the kept versions of \(path)", expected: "1 with a store", found: "\(kept.count)")
    }
    return store
  }

  func remove() throws {
    _ = try folder.emptyFolder("fleet")
  }

  private func path(of index: Int, in place: String) -> String {
    PathText.join(PathText.join(place, "\(index)"), Self.storeName)
  }
}
