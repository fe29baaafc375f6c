import HeirloomStore

/// The lock that keeps other vaults away from a store, in any process.
struct VaultLock: VaultPart {
  let place: StorePlace

  func withLock<Value>(requiresStore: Bool = true, _ body: () throws -> Value) throws -> Value {
    let lock = try take(requiresStore: requiresStore)
    defer { lock.close() }
    return try VaultError.wrappingFileErrors(body)
  }

  func take(requiresStore: Bool) throws -> any FileLock {
    let (folder, store) = try checkPlace(requiresStore: requiresStore)
    return try VaultError.wrappingFileErrors {
      try tree.ensure(
        location.companion, like: folder, attributes: place.trust.companionAttributes(in: folder, store: store))
      guard let lock = try files.lock(location.lock, timeout: place.configuration.lockTimeout) else {
        throw VaultError.vaultInUse(path: location.lock)
      }
      try place.emit(.locked)
      return lock
    }
  }

  /// Checks all conditions that can be checked before anything is created.
  private func checkPlace(requiresStore: Bool) throws(VaultError) -> (folder: FileStatus, store: FileStatus?) {
    try place.checkNotKept()
    let (folder, store) = try VaultError.wrapping { () throws(FileError) in
      (try files.status(of: location.directory), try files.status(of: location.path))
    }
    guard let folder, folder.kind == .directory else {
      throw .unusableFolder(path: location.directory, reason: "it is not a folder")
    }
    let volume = try VaultError.wrapping { () throws(FileError) in try files.volume(of: location.directory) }
    if let store {
      guard store.kind == .regular else { throw .notAFile(path: location.path, found: store.kind.rawValue) }
      // In an overlay, a file has the device of its layer until the first write moves it to the uppermost layer.
      guard store.identity.device == folder.identity.device || volume.fileSystemName == "overlay" else {
        throw .mountedStore(path: location.path)
      }
      let own = try VaultError.wrapping { () throws(FileError) in try files.volume(of: location.path) }
      guard !own.isMountPoint else { throw .mountedStore(path: location.path) }
    } else if requiresStore {
      try keptVersions.throwStoreMissing()
    }
    for path in [
      location.companion, location.previous, location.incoming, location.incompatible, location.quarantine,
    ] {
      if let reason = try tree.objection(to: path, on: folder) { throw .unusableFolder(path: path, reason: reason) }
      try place.trust.checkOwner(of: path)
    }
    for path in [location.lock, location.manifest, location.manifestDraft, location.snapshot] {
      try place.trust.checkOwner(of: path)
    }
    guard volume.kind.isSafe || place.configuration.allowUnsafeVolume else {
      throw .unsafeVolume(path: location.path, fileSystem: volume.fileSystemName)
    }
    do throws(FileError) {
      try files.checkWritable(location.directory)
      for path in [location.companion, location.previous, location.incoming] where try files.status(of: path) != nil {
        try files.checkWritable(path)
      }
    } catch {
      throw .folderNotWritable(error)
    }
    return (folder, store)
  }

  func objection() -> VaultError? {
    do throws(VaultError) {
      _ = try checkPlace(requiresStore: false)
      try place.checkPathLength()
      let isUnfinished = try VaultError.wrapping { () throws(FileError) in
        try Self.hasUnfinishedOperation(at: location, files: files)
      }
      // An interrupted operation may have given the store another name, which recovery removes.
      if !isUnfinished { try place.checkLinks() }
      return nil
    } catch {
      return error
    }
  }

  static func hasUnfinishedOperation(
    at location: StoreLocation, files: any FileOperations = POSIXFileOperations()
  ) throws(FileError) -> Bool {
    if try files.status(of: location.manifest) != nil { return true }
    guard try files.status(of: location.incoming)?.kind == .directory else { return false }
    return try files.names(in: location.incoming).contains(where: VersionName.isIdentifier)
  }
}
