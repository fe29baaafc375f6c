/// The lock beside a model bundle, which ships with it, or in a folder of Swift source.
///
/// `NAME.lock.json` is the lock of `NAME.xcdatamodeld` and `NAME.momd`, and takes precedence over `lock.json`. Other
/// tools use that name too, and in a folder with several bundles it is ambiguous: such a file is skipped with a
/// warning. Any other file with this name must be a valid lock, since it contains the floor and the consents.
package struct AdjacentLock {
  package private(set) var lock: VersionLock?
  /// The path of its file, or the last path that was tried.
  package private(set) var path: String
  /// Reasons why a file with a lock's name was skipped.
  private(set) var warnings: [String] = []

  /// Throws ``ModelReadingError`` for a damaged lock: without its order, a newer store could be
  /// mistaken for an older one.
  init(ofBundle bundle: String) throws(ModelReadingError) {
    let folder = FileNames.folder(of: bundle)
    path = folder + "/" + FileNames.lock(ofBundle: bundle)
    if FileContents.isNamed(path) {
      lock = try VersionLock(path: path)
      return
    }
    path = SnapshotFolder.lockPath(in: folder)
    guard try isOurs() else { return }
    let names = try FileContents.names(in: folder)
    let bundles = Set(names.filter(FileNames.isBundle).map(FileNames.withoutBundleExtension))
    guard bundles.count <= 1 else {
      warnings.append(
        "\(path) is skipped: the folder contains \(bundles.count) model bundles, and the lock doesn't say which one it"
          + " is for. Name it \(FileNames.lock(ofBundle: bundle)).")
      return
    }
    lock = try VersionLock(path: path)
  }

  package init(inFolder folder: String) throws(ModelReadingError) {
    path = SnapshotFolder.lockPath(in: folder)
    if try isOurs() { lock = try VersionLock(path: path) }
  }

  /// Warns if the file is another tool's.
  private mutating func isOurs() throws(ModelReadingError) -> Bool {
    guard FileContents.isNamed(path) else { return false }
    let bytes: [UInt8]
    do throws(ModelReadingError) {
      bytes = try FileContents.bytes(path, limit: VersionLock.byteLimit)
    } catch {
      guard case .notModel = error.problem else { throw VersionLock.unreadable(error, at: path) }
      warnings.append("\(path) is skipped: \(error.description)")
      return false
    }
    guard !VersionLock.areOfAnotherTool(bytes) else {
      warnings.append(
        "\(path) is skipped: it is not a lock of model versions. Versions are ordered by name.")
      return false
    }
    return true
  }
}

extension FileNames {
  /// The ending of the name of a bundle's own lock.
  package static let bundleLock = "." + lock

  static func isBundle(_ name: String) -> Bool {
    name.hasSuffix(sourceBundleExtension) || name.hasSuffix(compiledBundleExtension)
  }

  static func withoutBundleExtension(_ path: String) -> String {
    base(base(path, without: sourceBundleExtension), without: compiledBundleExtension)
  }

  static func lock(ofBundle path: String) -> String { withoutBundleExtension(path) + bundleLock }
}
