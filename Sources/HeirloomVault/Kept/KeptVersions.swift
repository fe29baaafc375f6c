import HeirloomStore

struct KeptVersions: VaultPart {
  let place: StorePlace

  func all() throws(VaultError) -> [PreviousVersionFiles] {
    try VaultError.wrapping { () throws(FileError) in
      let store = try files.status(of: location.path)
      let unfinished = try? record.read()
      var versions: [PreviousVersionFiles] = []
      for name in try names() {
        let version = try read(name)
        // A second name of the live store is no version: a run was interrupted while it kept the store.
        if let path = version.storePath, let store, try files.status(of: path)?.identity == store.identity { continue }
        if unfinished?.keptFolder == name.text, unfinished?.phase == .copying || version.storePath == nil { continue }
        versions.append(version)
      }
      return versions
    }
  }

  func read(_ name: VersionName) throws(FileError) -> PreviousVersionFiles {
    let folder = PathText.join(location.previous, name.text)
    // An untrusted user's folder is listed without content: it is neither restored nor counted for pruning.
    guard try place.trust.objection(toFolder: folder) == nil else {
      return PreviousVersionFiles(name: name, path: folder, storePath: nil, manifest: nil, storeByteCount: 0)
    }
    let path = PathText.join(folder, StoreLocation.manifestName)
    var manifest: PreviousVersionManifest?
    if try files.status(of: path) != nil,
      let bytes = try? files.readFile(path, limit: VaultManifest.byteLimit)
    {
      manifest = try? PreviousVersionManifest(decoding: bytes)
    }
    let store = PathText.join(folder, manifest?.storeName ?? location.name)
    let status = try files.status(of: store)
    return PreviousVersionFiles(
      name: name, path: folder, storePath: status?.kind == .regular ? store : nil, manifest: manifest,
      storeByteCount: status?.size ?? 0)
  }

  func names() throws(FileError) -> [VersionName] {
    guard try files.status(of: location.previous)?.kind == .directory else { return [] }
    return try files.names(in: location.previous).compactMap(VersionName.init(_:)).sorted()
  }

  func find(_ prefix: String) throws(VaultError) -> PreviousVersionFiles {
    let versions = try all()
    let matches = versions.filter { $0.name.text.hasPrefix(prefix) }
    guard !prefix.isEmpty, matches.count == 1, let version = matches.first else {
      throw .unknownVersion(prefix: prefix, candidates: (matches.isEmpty ? versions : matches).map(\.name.text))
    }
    let reason = try VaultError.wrapping { () throws(FileError) in try place.trust.objection(toFolder: version.path) }
    if let reason { throw .unusableVersion(id: version.name.text, reason: reason) }
    guard version.storePath != nil else {
      throw .unusableVersion(id: version.name.text, reason: "its store file is not there")
    }
    return version
  }

  func mode(of version: PreviousVersionFiles) throws(FileError) -> JournalMode {
    if let manifest = version.manifest { return manifest.mode }
    guard let path = version.storePath else { return .rollback }
    return JournalMode(header: try files.readStart(of: path, count: 20))
  }

  /// By one rename, so a crash leaves the old manifest or the new one.
  func replaceManifest(
    of version: PreviousVersionFiles, with manifest: PreviousVersionManifest
  ) throws(FileError) {
    let path = PathText.join(version.path, StoreLocation.manifestName)
    let draft = path + ".tmp"
    let attributes = try files.status(of: path)?.attributes ?? FileAttributes(mode: 0o600)
    if try files.status(of: draft) != nil { try files.unlink(draft) }
    guard let bytes = try? manifest.encoded() else {
      throw FileError(.write, draft, code: 0, reason: "the description can't be encoded")
    }
    try files.writeNewFile(draft, bytes: bytes, attributes: attributes)
    try files.rename(draft, to: path)
  }

  func throwStoreMissing() throws(VaultError) {
    let versions = (try? all()) ?? []
    let isAnotherAwaited = (try? record.isOfMissingStore()) ?? false
    throw .storeMissing(
      path: location.path, previousVersions: versions.map(\.name.text), isAnotherAwaited: isAnotherAwaited)
  }
}

extension VaultPart {
  var keptVersions: KeptVersions { KeptVersions(place: place) }
}
