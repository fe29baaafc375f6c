import Foundation
import HeirloomFormats
import HeirloomModel
package import HeirloomStore

/// A previous version of the store, complete in a folder of its own.
package struct PreviousVersionFiles: Equatable, Sendable {
  /// The folder's name, under which the user sees the version.
  package let name: VersionName
  /// The path of the folder.
  package let path: String
  /// The path of the store's main file in the folder; `nil` if it is not there.
  package let storePath: String?
  /// The version's own manifest; `nil` if it is damaged, although the files may be whole.
  package let manifest: PreviousVersionManifest?
  /// The main file's present size, in bytes.
  package let storeByteCount: Int64

  /// The size of the whole version, in bytes; it shares linked files with the store.
  package var byteCount: Int64 {
    let others = (manifest?.supportByteCount ?? 0).addingReportingOverflow(storeByteCount)
    return others.overflow ? .max : others.partialValue
  }
}

/// The manifest in a previous version's folder.
package struct PreviousVersionManifest: Equatable, Sendable {
  /// The identifier of the operation that kept the version: 32 hexadecimal digits.
  package let identifier: String
  /// The time of the operation, in seconds since 1970-01-01 UTC.
  package let time: Int64
  /// The name of the store's main file.
  package let storeName: String
  /// The main file's size when the version was kept, in bytes.
  package let storeByteCount: Int64
  /// The number of files in the folder of external binary data.
  package let supportFileCount: Int
  /// The size of those files together, in bytes.
  package let supportByteCount: Int64
  /// The model's checksum, if the caller knew it.
  package let versionChecksum: String?
  /// The version's name in the caller's history, if it was known; manifests of earlier releases have none.
  package let versionName: String?
  /// The generation of the store, if it has one.
  package let generation: String?
  /// The generation of the store that replaced it, empty if that has none; `nil` in manifests of earlier releases.
  package let successor: String?
  /// The store's journal mode before it was kept.
  package let mode: JournalMode
  /// The operation that replaced it.
  package let operation: VaultManifest.Operation

  /// The content that only this version holds; `nil` if none is known.
  ///
  /// It is empty in a pinned version whose rows no comparison has found in another store.
  package private(set) var alone: SoleContents?
  /// True if the app allowed the version to be pruned like any other, or another store holds its content.
  ///
  /// In the second case, ``alone`` is an empty list.
  package private(set) var isReleased: Bool
  /// The result of the version's last soundness test; `nil` if it wasn't tested, as by earlier releases.
  package private(set) var soundness: SoundnessNote?

  /// True if the store that replaced it was not built from it.
  package var isReplaced: Bool { operation == .adoption || operation == .restoration }

  /// True while the version must not be pruned, because no other store holds its rows.
  ///
  /// A migration copies rows over. An adoption and a restoration don't: rows written to the store that they
  /// replaced are in that store alone.
  package var isPinned: Bool { !isReleased && (isReplaced || alone != nil) }

  /// True if the version isn't pinned, but may be pinned by a finding because the user has not released it.
  var mayBePinned: Bool { !isPinned && (!isReleased || alone?.items.isEmpty == true) }

  /// Creates a manifest.
  package init(
    identifier: String, time: Int64, storeName: String, storeByteCount: Int64, supportFileCount: Int,
    supportByteCount: Int64, versionChecksum: String?, versionName: String? = nil, generation: String?,
    successor: String? = nil, mode: JournalMode, operation: VaultManifest.Operation = .migration,
    alone: SoleContents? = nil, isReleased: Bool = false
  ) {
    self.identifier = identifier
    self.time = time
    self.storeName = storeName
    self.storeByteCount = storeByteCount
    self.supportFileCount = supportFileCount
    self.supportByteCount = supportByteCount
    self.versionChecksum = versionChecksum
    // A manifest has a size limit, and no one gives a version such a long name.
    self.versionName = versionName.flatMap { $0.utf8.count > 1024 ? nil : $0 }
    self.generation = generation
    self.successor = successor
    self.mode = mode
    self.operation = operation
    self.alone = alone
    self.isReleased = isReleased
  }

  /// The same manifest, released for good: the version may be pruned.
  package var released: PreviousVersionManifest {
    var manifest = self
    manifest.isReleased = true
    return manifest
  }

  /// Returns the same manifest with the content that only this version holds; an empty list releases the version.
  func holding(_ alone: SoleContents) -> PreviousVersionManifest {
    var manifest = self
    manifest.alone = alone
    manifest.isReleased = alone.items.isEmpty
    return manifest
  }

  /// The same manifest, pinned: no comparison has found the version's rows in another store.
  var pinned: PreviousVersionManifest {
    var manifest = self
    (manifest.alone, manifest.isReleased) = (SoleContents([]), false)
    return manifest
  }

  /// Returns true if the store of a generation is the one that replaced this version.
  ///
  /// Manifests of earlier releases don't have the successor's generation. For these, a migration's successor is any
  /// store with a generation that no kept version has; for other operations, every store passes.
  func isFollowed(byStoreOf generation: String?, among versions: [PreviousVersionFiles]) -> Bool {
    if let successor { return successor == generation ?? "" }
    guard operation == .migration else { return true }
    return generation != nil && !versions.contains { $0.manifest?.generation == generation }
  }

  /// Returns the same manifest with the result of a soundness test.
  func noting(_ soundness: SoundnessNote) -> PreviousVersionManifest {
    var manifest = self
    manifest.soundness = soundness
    return manifest
  }

  private struct Document: Codable {
    var format: Int
    var identifier: String
    var time: Int64
    var store: String
    var storeBytes: Int64
    var supportFiles: Int
    var supportBytes: Int64
    var versionChecksum: String?
    /// The version's name, with its own checksum: earlier releases know neither, and ignore both.
    var versionName: String?
    var versionNameChecksum: String?
    var generation: String?
    /// The successor's generation, with its own checksum, as for the version's name.
    var successor: String?
    var successorChecksum: String?
    var wal: Bool
    /// The operation; missing for a migration.
    var operation: VaultManifest.Operation?
    /// The content that only this version holds; missing if there is none.
    var alone: SoleContents?
    /// True for a released version, else missing.
    var released: Bool?
    /// The result of the last soundness test, with its own checksum, as for the version's name.
    var soundness: SoundnessNote?
    var soundnessChecksum: String?
    var checksum: String
  }

  private var nameChecksum: String? {
    versionName.map { ManifestChecksum.text(of: [identifier, versionChecksum, $0]) }
  }

  private var successorChecksum: String? {
    successor.map { ManifestChecksum.text(of: [identifier, "successor", $0]) }
  }

  private var soundnessChecksum: String? {
    soundness.map { ManifestChecksum.text(of: [identifier] + $0.fields) }
  }

  private var checksum: String {
    var fields = [
      "1", identifier, String(time), storeName, String(storeByteCount), String(supportFileCount),
      String(supportByteCount), versionChecksum, generation, String(mode == .wal),
    ]
    if operation != .migration { fields.append(operation.rawValue) }
    if let alone { fields += ["alone"] + alone.fields }
    if isReleased { fields.append("released") }
    return ManifestChecksum.text(of: fields)
  }

  /// Returns the manifest as JSON with its checksum.
  package func encoded() throws(ManifestError) -> [UInt8] {
    try ManifestChecksum.encode(
      Document(
        format: 1, identifier: identifier, time: time, store: storeName, storeBytes: storeByteCount,
        supportFiles: supportFileCount, supportBytes: supportByteCount, versionChecksum: versionChecksum,
        versionName: versionName, versionNameChecksum: nameChecksum, generation: generation, successor: successor,
        successorChecksum: successorChecksum, wal: mode == .wal,
        operation: operation == .migration ? nil : operation, alone: alone,
        released: isReleased ? true : nil, soundness: soundness, soundnessChecksum: soundnessChecksum,
        checksum: checksum))
  }

  /// Reads a manifest; throws if it is damaged, of a later format, or names files that are not the vault's.
  package init(decoding bytes: [UInt8]) throws(ManifestError) {
    let document = try ManifestChecksum.decode(Document.self, from: bytes)
    guard document.format == 1 else {
      throw ManifestError(reason: "its format is \(document.format), and 1 was expected")
    }
    self.init(
      identifier: document.identifier, time: document.time, storeName: document.store,
      storeByteCount: document.storeBytes, supportFileCount: document.supportFiles,
      supportByteCount: document.supportBytes, versionChecksum: document.versionChecksum,
      versionName: document.versionName, generation: document.generation, successor: document.successor,
      mode: document.wal ? .wal : .rollback, operation: document.operation ?? .migration,
      alone: document.alone, isReleased: document.released ?? false)
    soundness = document.soundness
    guard checksum == document.checksum, nameChecksum == document.versionNameChecksum,
      soundnessChecksum == document.soundnessChecksum, successorChecksum == document.successorChecksum
    else {
      throw ManifestError(reason: "its checksum does not fit its content")
    }
    guard VersionName.isIdentifier(identifier), PathText.isFileName(storeName) else {
      throw ManifestError(reason: "it names files that are not the vault's")
    }
  }
}

/// The result of a version's soundness test, with the main file's state at that time.
package struct SoundnessNote: Equatable, Sendable, Codable {
  /// The first fault in words, without a full stop; `nil` for a sound version.
  package let fault: String?
  /// The main file's size, in bytes.
  let storeBytes: Int64
  /// The CRC-32 of the main file's bytes.
  let storeChecksum: UInt32
  /// The main file's `mtime`, then its `ctime`, each in seconds and nanoseconds.
  let storeTimes: [Int64]

  init(_ soundness: StoreSoundness, fault: String?) {
    // A manifest has a size limit, and a message may quote text from a file.
    self.fault = (fault ?? soundness.fault).map { String(PlainText.line($0).prefix(200)) }
    storeBytes = soundness.file.size
    storeChecksum = soundness.checksum.value
    storeTimes = soundness.file.times
  }

  /// Returns true if the main file has the size and times of the test.
  func fits(_ file: FileStamp?) -> Bool {
    file?.size == storeBytes && file?.times == storeTimes
  }

  var fields: [String?] {
    [fault, String(storeBytes), String(storeChecksum)] + storeTimes.map(String.init)
  }
}
