import HeirloomStore

struct ReturningStore {
  enum Origin: Hashable {
    case version(String)
    case aside(String)
  }

  let origin: Origin
  let folder: String
  let storeName: String
  let byteCount: Int64
  /// `nil` to use the mode of the store that it replaces.
  let mode: JournalMode?

  var storePath: String { PathText.join(folder, storeName) }

  var operation: VaultManifest.Operation { adoptedSet == nil ? .restoration : .adoption }

  var adoptedSet: String? {
    guard case .aside(let name) = origin else { return nil }
    return name
  }

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
