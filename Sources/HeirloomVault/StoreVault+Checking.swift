import HeirloomFormats
import HeirloomModel
package import HeirloomStore

extension StoreVault {
  /// Takes no lock and writes nothing.
  package func findings() throws(VaultError) -> [StoreFinding] {
    var findings = try VaultError.wrapping { () throws(FileError) in try externalFindings() }
    if let damage = try unreadLogs.damage() {
      findings.append(
        StoreFinding(damage.lostCount > 0 ? .error : .note, .damagedLog, damage.description, remedies: [.salvage]))
    }
    guard try VaultError.wrapping({ () throws(FileError) in try files.status(of: location.companion) }) != nil else {
      return findings
    }
    let unusable = try unusableFolders()
    findings += unusable.map { path, reason in
      StoreFinding(
        .error, .unusableFolder,
        "\"\(path)\" should be a folder, and \(reason). No migration can start, and its content can't be listed: find"
          + " out who made it, and move it away or make it readable.")
    }
    if unusable.contains(where: { $0.path == location.companion }) { return findings }
    findings += unfinishedFindings()
    try VaultError.wrapping { () throws(FileError) in
      findings += try leftoverFindings(besides: Set(unusable.map(\.path)))
      guard !unusable.contains(where: { $0.path == location.previous }) else { return }
      for name in try keptVersions.names() {
        let folder = PathText.join(location.previous, name.text)
        for fault in try faults(of: name) {
          findings.append(
            StoreFinding(
              fault.severity, .damagedVersion, "The previous version \(name.text) \(fault.words)",
              remedies: fault.isForVerifying ? [.verification] : [],
              for: fault.isForVerifying ? PathText.join(folder, fault.storeName) : nil, version: name.text))
        }
      }
    }
    return findings
  }

  private func unusableFolders() throws(VaultError) -> [(path: String, reason: String)] {
    guard
      let folder = try VaultError.wrapping({ () throws(FileError) in try files.status(of: location.directory) })
    else { return [] }
    var found: [(String, String)] = []
    for path in [
      location.companion, location.previous, location.incoming, location.incompatible, location.quarantine,
    ] {
      if let reason = try tree.objection(to: path, on: folder) {
        found.append((path, reason))
      } else {
        do throws(FileError) {
          if try files.status(of: path) != nil { _ = try files.names(in: path) }
        } catch {
          found.append((path, "it can't be read: \(error.reason)"))
        }
      }
      // The other folders are inside it.
      if path == location.companion, !found.isEmpty { break }
    }
    return found
  }

  private func unfinishedFindings() -> [StoreFinding] {
    do throws(VaultError) {
      guard let manifest = try record.read() else { return [] }
      return [
        StoreFinding(
          .warning, .unfinishedOperation,
          "A \(manifest.operation.words) was interrupted, or another process is running it. The store is whole, in the"
            + " old or the new version; the next launch of the app, or a migration, cleans up.",
          remedies: [.migration])
      ]
    } catch {
      return [
        StoreFinding(
          .error, .damagedManifest,
          "\(ErrorWords.sentence(error.cause)) No migration can start while it exists. The store is whole, in the old"
            + " or the new version: inspect it, then run a repair, which moves the record aside.",
          remedies: [.inspection, .repair])
      ]
    }
  }

  private func externalFindings() throws(FileError) -> [StoreFinding] {
    let passedOver: PassedOver
    do throws(FileError) {
      passedOver = try tree.content(of: place.supportFolder()).passedOver
    } catch {
      guard error.operation == .resolve else { throw error }
      return [
        StoreFinding(.error, .unkeptExternalFile, "The store's external data can't be kept: \(error.description).")
      ]
    }
    guard let first = passedOver.first else { return [] }
    return [
      StoreFinding(
        .warning, .unkeptExternalFile,
        "\(CountText.counted(passedOver.count, "name")) in the store's folder of external data"
          + " \(passedOver.count == 1 ? "is neither a file nor a folder" : "are neither files nor folders"), such as"
          + " \(first). They are skipped, and not kept with a previous version: put the files themselves there.")
    ]
  }

  private func leftoverFindings(besides unusable: Set<String>) throws(FileError) -> [StoreFinding] {
    var paths: [String] = []
    for name in try files.names(in: location.companion) where name.hasSuffix(".tmp") || name.contains(".damaged-") {
      paths.append(PathText.join(location.companion, name))
    }
    for folder in [location.incoming, location.previous] where !unusable.contains(folder) {
      guard try files.status(of: folder)?.kind == .directory else { continue }
      for name in try files.names(in: folder) where folder == location.incoming || VersionName(name) == nil {
        paths.append(PathText.join(folder, name))
      }
    }
    return paths.map { path in
      StoreFinding(
        .note, .leftover,
        "\(path) is left from an earlier run, unless one is running now. The next run removes it if it is one of"
          + " Heirloom's own files.")
    }
  }

  // MARK: Versions

  func faults(of name: VersionName) throws(FileError) -> [VersionFault] {
    let folder = PathText.join(location.previous, name.text)
    if let reason = try place.trust.objection(toFolder: folder) {
      return [VersionFault(.error, "can't be restored, and is never removed: \(reason).")]
    }
    let manifest: PreviousVersionManifest
    do throws(ManifestError) {
      manifest = try readManifest(ofVersionAt: folder)
    } catch {
      return [
        VersionFault(
          .warning,
          "has a damaged manifest: \(error.reason). Its store may still be whole and is not removed: verify it.",
          store: location.name)
      ]
    }
    let store = PathText.join(folder, manifest.storeName)
    guard let status = try files.status(of: store), status.kind == .regular else {
      return [VersionFault(.error, "lacks its store \(manifest.storeName): it can't be restored.")]
    }
    if status.identity == (try files.status(of: location.path))?.identity {
      return [
        VersionFault(
          .warning, "is a hard link to the store, left by an interrupted run; the next run removes it.")
      ]
    }
    var faults: [VersionFault] = []
    if status.size != manifest.storeByteCount {
      faults.append(
        VersionFault(
          .warning,
          "had \(manifest.storeByteCount) bytes when it was kept and has \(status.size) now: it was opened for writing."
            + " Verify it.", store: manifest.storeName))
    }
    // An earlier release recorded SQLite's message with its line breaks.
    if let fault = manifest.soundness?.fault?.split(separator: "\n").joined(separator: " ") {
      faults.append(
        VersionFault(
          .warning, "was found unsound: \(fault). No older version is removed because of it.",
          store: manifest.storeName))
    }
    faults += try self.faults(ofExternalDataIn: folder, manifest)
    if let problem = problem(withStoreAt: store, folder: folder, manifest) {
      faults.append(VersionFault(.error, problem))
    }
    return faults
  }

  private func readManifest(ofVersionAt folder: String) throws(ManifestError) -> PreviousVersionManifest {
    let path = PathText.join(folder, StoreLocation.manifestName)
    guard try isFile(path) else { throw ManifestError(reason: "it is missing") }
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try files.readFile(path, limit: VaultManifest.byteLimit)
    } catch {
      throw ManifestError(reason: error.description)
    }
    return try PreviousVersionManifest(decoding: bytes)
  }

  private func faults(
    ofExternalDataIn folder: String, _ manifest: PreviousVersionManifest
  ) throws(FileError) -> [VersionFault] {
    let support = try tree.content(
      of: SupportFolder(path: PathText.join(folder, StoreLocation.supportName(forStore: manifest.storeName))))
    var faults: [VersionFault] = []
    if let first = support.passedOver.first {
      faults.append(
        VersionFault(
          .error,
          "has names in its external data that are neither files nor folders, added after it was kept: \(first)."))
    }
    if support.fileCount < manifest.supportFileCount {
      faults.append(
        VersionFault(
          .error,
          "had \(CountText.counted(manifest.supportFileCount, "file")) of external data and has"
            + " \(support.fileCount) now: large values are missing from it."))
    } else if support.byteCount != manifest.supportByteCount {
      faults.append(
        VersionFault(
          .warning,
          "had \(manifest.supportByteCount) bytes of external data and has \(support.byteCount) now: its files were"
            + " changed."
        ))
    }
    return faults
  }

  private func problem(withStoreAt path: String, folder: String, _ manifest: PreviousVersionManifest) -> String? {
    do throws(StoreError) {
      let hashes = try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
        try StoreMetadata(connection: connection, path: path).versionHashes
      }
      guard let checksum = manifest.versionChecksum, ManagedObjectModel.versionChecksum(of: hashes) != checksum else {
        return nil
      }
      return "has another model than when it was kept: it was migrated since."
    } catch {
      // It was kept with the journal of the change; opening it rolls the change back.
      if manifest.operation == .undoing, error.problem == .needsRecovery { return nil }
      return "holds a store that can't be read: \(error.description)"
    }
  }

  private func isFile(_ path: String) throws(ManifestError) -> Bool {
    do throws(FileError) {
      return try files.status(of: path)?.kind == .regular
    } catch {
      throw ManifestError(reason: error.description)
    }
  }
}

extension VaultManifest.Operation {
  fileprivate var words: String {
    switch self {
    case .migration: "migration"
    case .restoration: "restoration"
    case .adoption: "return of a store that was moved aside"
    case .settingAside: "moving aside"
    case .undoing: "rollback of an interrupted change"
    }
  }
}

struct VersionFault {
  let severity: StoreFinding.Severity
  /// The rest of a sentence that begins with the version.
  let words: String
  /// Empty unless the store should be verified.
  let storeName: String

  var isForVerifying: Bool { !storeName.isEmpty }

  init(_ severity: StoreFinding.Severity, _ words: String, store: String = "") {
    self.severity = severity
    self.words = words
    storeName = store
  }
}
