import HeirloomStore

/// A complete previous version or set-aside store that returns to the store's place.
struct ReturningStore {
  /// The origin of a set, with its folder's name.
  enum Origin: Hashable {
    /// A previous version, from `previous`.
    case version(String)
    /// A set-aside store, from `incompatible`.
    case aside(String)
  }

  let origin: Origin
  /// The path of the set's folder.
  let folder: String
  /// The name of the set's main file.
  let storeName: String
  /// The size of the whole set, in bytes.
  let byteCount: Int64
  /// The set's mode; `nil` to use that of the store that it replaces.
  let mode: JournalMode?

  var storePath: String { PathText.join(folder, storeName) }

  /// The operation that returns the set.
  var operation: VaultManifest.Operation { adoptedSet == nil ? .restoration : .adoption }

  /// The name of the set-aside store; `nil` for a previous version.
  var adoptedSet: String? {
    guard case .aside(let name) = origin else { return nil }
    return name
  }

  /// Returns the error for a set that can't replace the store.
  func unusable(_ reason: String) -> VaultError {
    switch origin {
    case .version(let name): .unusableVersion(id: name, reason: reason)
    case .aside(let name): .unusableSetAsideStore(id: name, reason: reason)
    }
  }
}

extension ReturningStore {
  init(_ version: PreviousVersionFiles, mode: JournalMode) throws(VaultError) {
    guard let path = version.storePath else {
      throw .unusableVersion(id: version.name.text, reason: "its store file is not there")
    }
    self.init(
      origin: .version(version.name.text), folder: version.path, storeName: PathText.split(path).name,
      byteCount: version.byteCount, mode: mode)
  }
}
