/// The lock that lies beside a model bundle and ships with it, or among Swift source.
///
/// `NAME.lock.json` is the lock of `NAME.xcdatamodeld` and `NAME.momd`, and wins over `lock.json`. Other tools use that
/// name too, and in a folder of several bundles it doesn't say whose it is: such a file is skipped with a warning. Any
/// other file of the name has to be a lock, since the floor and the consents are in it.
package struct AdjacentLock {
  /// The lock; `nil` if there is none for the bundle.
  package private(set) var lock: VersionLock?
  /// The path of its file, or the path where it was sought last.
  package private(set) var path: String
  /// The warnings that say why a file of the name was skipped.
  private(set) var warnings: [String] = []

  /// Looks for the lock of a bundle.
  ///
  /// - Parameter bundle: The bundle's path.
  /// - Throws: ``ModelReadingError`` for a lock of ours that is damaged: without its order a newer store could be taken
  ///   for an older one.
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
        "\(path) is passed over: the folder holds \(bundles.count) model bundles, and it doesn't say whose lock it is. Name it"
          + " \(FileNames.lock(ofBundle: bundle)).")
      return
    }
    lock = try VersionLock(path: path)
  }

  /// Looks for the lock in a folder of Swift source.
  ///
  /// - Parameter folder: The folder's path.
  /// - Throws: ``ModelReadingError`` for a lock of ours that is damaged.
  package init(inFolder folder: String) throws(ModelReadingError) {
    path = SnapshotFolder.lockPath(in: folder)
    if try isOurs() { lock = try VersionLock(path: path) }
  }

  /// Returns true if a file of the name is there and no other tool's, about which there is a warning.
  private mutating func isOurs() throws(ModelReadingError) -> Bool {
    guard FileContents.isNamed(path) else { return false }
    let bytes: [UInt8]
    do throws(ModelReadingError) {
      bytes = try FileContents.bytes(path, limit: VersionLock.byteLimit)
    } catch {
      guard case .notModel = error.problem else { throw VersionLock.unreadable(error, at: path) }
      warnings.append("\(path) is passed over: \(error.description)")
      return false
    }
    guard !VersionLock.areOfAnotherTool(bytes) else {
      warnings.append(
        "\(path) is passed over: it is no lock of model versions. The order of versions is told from names.")
      return false
    }
    return true
  }
}

extension FileNames {
  /// The end of the name of a lock that is for one bundle.
  static let bundleLock = "." + lock

  /// Tells whether a name is that of a bundle of versions.
  static func isBundle(_ name: String) -> Bool {
    name.hasSuffix(sourceBundleExtension) || name.hasSuffix(compiledBundleExtension)
  }

  /// Returns the last part of a bundle's path without its extension.
  static func withoutBundleExtension(_ path: String) -> String {
    base(base(path, without: sourceBundleExtension), without: compiledBundleExtension)
  }

  /// Returns the name of the lock that is for one bundle.
  static func lock(ofBundle path: String) -> String { withoutBundleExtension(path) + bundleLock }
}
