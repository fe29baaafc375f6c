import HeirloomStore

/// The record of an unfinished operation: its manifest in the companion folder.
struct OperationRecord: VaultPart {
  let place: StorePlace

  func read() throws(VaultError) -> VaultManifest? {
    let bytes = try VaultError.wrapping { () throws(FileError) -> [UInt8]? in
      guard try files.status(of: location.manifest) != nil else { return nil }
      return try files.readFile(location.manifest, limit: VaultManifest.byteLimit)
    }
    guard let bytes else { return nil }
    do throws(ManifestError) {
      return try VaultManifest(decoding: bytes)
    } catch {
      throw .damagedManifest(path: location.manifest, reason: error.reason)
    }
  }

  /// The folder's sync also makes the names `previous` and `incoming` durable, which were created
  /// before.
  func write(_ manifest: VaultManifest) throws(VaultError) {
    let bytes: [UInt8]
    do throws(ManifestError) {
      bytes = try manifest.encoded()
    } catch {
      throw .damagedManifest(path: location.manifest, reason: error.reason)
    }
    try VaultError.wrapping { () throws(FileError) in
      try removeDraft()
      // Users that can read the store may finish the operation; the manifest is hidden from all others.
      let attributes = try files.status(of: location.path)?.attributes ?? FileAttributes(mode: 0o600)
      try files.writeNewFile(location.manifestDraft, bytes: bytes, attributes: attributes)
      try files.rename(location.manifestDraft, to: location.manifest)
      try files.synchronizeDirectory(location.companion)
    }
  }

  func removeDraft() throws(FileError) {
    if try files.status(of: location.manifestDraft) != nil { try files.unlink(location.manifestDraft) }
  }

  func remove() throws(FileError) {
    if try files.status(of: location.manifest) != nil { try files.unlink(location.manifest) }
    try files.synchronizeDirectory(location.companion)
  }

  func isOfMissingStore() throws -> Bool {
    guard let manifest = try read(), manifest.operation == .restoration, manifest.keptFolder == nil else {
      return false
    }
    return try files.status(of: location.path) == nil
  }

  func setAsideIfDamaged() throws -> String? {
    do {
      _ = try read()
      return nil
    } catch VaultError.damagedManifest {
      return try setAside("damaged")
    }
  }

  /// The user has decided to begin anew, without the store that is missing.
  func setAsideIfOfMissingStore() throws -> String? {
    try isOfMissingStore() ? setAside("missing") : nil
  }

  private func setAside(_ reason: String) throws(FileError) -> String {
    let path = location.manifest + ".\(reason)-" + files.uniqueIdentifier().prefix(8)
    try files.rename(location.manifest, to: path)
    try files.synchronizeDirectory(location.companion)
    return path
  }
}

extension VaultManifest {
  /// Until another store has taken the place, no launch may create one.
  static func missingStore(from manifest: VaultManifest) -> VaultManifest {
    VaultManifest(
      identifier: manifest.identifier, operation: .restoration, storeName: manifest.storeName, keptFolder: nil,
      oldGeneration: nil, newGeneration: nil, time: manifest.time)
  }
}

extension VaultPart {
  var record: OperationRecord { OperationRecord(place: place) }
}
