/// A complete set that is to take the store's place: a version that was kept, or one that was moved aside.
struct ReturningSet {
  /// Where it comes from.
  enum Origin: Hashable {
    /// From `previous`, by its name.
    case version(String)
    /// From `incompatible`, by its name.
    case aside(String)
  }

  /// Where it comes from.
  let origin: Origin
  /// Its folder.
  let folder: String
  /// The name of its main file.
  let storeName: String
  /// The bytes of all of it.
  let byteCount: Int64
  /// Whether it was in WAL mode; `nil` to go by the store in whose place it comes.
  let usedWAL: Bool?

  /// Its main file.
  var storePath: String { PathText.join(folder, storeName) }

  /// What is done with it.
  var operation: VaultManifest.Operation { adoptedSet == nil ? .restoration : .adoption }

  /// Its name, if it was moved aside.
  var adoptedSet: String? {
    guard case .aside(let name) = origin else { return nil }
    return name
  }

  /// Says why it can't take the store's place.
  func unusable(_ reason: String) -> VaultError {
    switch origin {
    case .version(let name): .unusableVersion(id: name, reason: reason)
    case .aside(let name): .unusableAsideSet(id: name, reason: reason)
    }
  }
}

extension ReturningSet {
  /// Describes a version that was kept.
  init(_ version: RetainedVersion, usedWAL: Bool) throws(VaultError) {
    guard let path = version.storePath else {
      throw .unusableVersion(id: version.name.text, reason: "its store file is not there")
    }
    self.init(
      origin: .version(version.name.text), folder: version.path, storeName: PathText.split(path).name,
      byteCount: version.byteCount, usedWAL: usedWAL)
  }
}
