/// A complete set that returns to the store's place: a previous version or a set-aside store.
struct ReturningStore {
  /// The origin of a set, by its folder's name.
  enum Origin: Hashable {
    /// A previous version, from `previous`.
    case version(String)
    /// A set-aside store, from `incompatible`.
    case aside(String)
  }

  /// The set's origin.
  let origin: Origin
  /// The set's folder.
  let folder: String
  /// The name of the set's main file.
  let storeName: String
  /// The length of the whole set, in bytes.
  let byteCount: Int64
  /// True when the set was in WAL mode; `nil` to take the mode of the store that it replaces.
  let usedWAL: Bool?

  /// The set's main file.
  var storePath: String { PathText.join(folder, storeName) }

  /// The operation that returns the set.
  var operation: VaultManifest.Operation { adoptedSet == nil ? .restoration : .adoption }

  /// The name of the set-aside store; `nil` for a previous version.
  var adoptedSet: String? {
    guard case .aside(let name) = origin else { return nil }
    return name
  }

  /// Returns the error that says why the set can't take the store's place.
  func unusable(_ reason: String) -> VaultError {
    switch origin {
    case .version(let name): .unusableVersion(id: name, reason: reason)
    case .aside(let name): .unusableSetAsideStore(id: name, reason: reason)
    }
  }
}

extension ReturningStore {
  /// Creates a set from a previous version.
  init(_ version: PreviousVersionFiles, usedWAL: Bool) throws(VaultError) {
    guard let path = version.storePath else {
      throw .unusableVersion(id: version.name.text, reason: "its store file is not there")
    }
    self.init(
      origin: .version(version.name.text), folder: version.path, storeName: PathText.split(path).name,
      byteCount: version.byteCount, usedWAL: usedWAL)
  }
}
