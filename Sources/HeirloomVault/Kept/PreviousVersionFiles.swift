import Foundation
import HeirloomFormats
import HeirloomModel
package import HeirloomStore

package struct PreviousVersionFiles: Equatable, Sendable {
  package let name: VersionName
  package let path: String
  package let storePath: String?
  /// `nil` if it is damaged, although the files may be whole.
  package let manifest: PreviousVersionManifest?
  package let storeByteCount: Int64

  package var byteCount: Int64 {
    let others = (manifest?.supportByteCount ?? 0).addingReportingOverflow(storeByteCount)
    return others.overflow ? .max : others.partialValue
  }
}

package struct PreviousVersionManifest: Equatable, Sendable {
  /// 32 hexadecimal digits.
  package let identifier: String
  /// In seconds since 1970-01-01 UTC.
  package let time: Int64
  package let storeName: String
  /// When the version was kept.
  package let storeByteCount: Int64
  package let supportFileCount: Int
  package let supportByteCount: Int64
  package let versionChecksum: String?
  package let versionName: String?
  package let generation: String?
  /// Empty if the replacing store has none; `nil` in manifests of earlier releases.
  package let successor: String?
  /// Before the store was kept.
  package let mode: JournalMode
  package let operation: VaultManifest.Operation

  /// `nil` if none is known; empty if no comparison has found the version's rows in another store.
  package private(set) var alone: SoleContents?
  /// The app allowed pruning, or another store holds the content: ``alone`` is then an empty list.
  package private(set) var isReleased: Bool
  package private(set) var soundness: SoundnessNote?

  /// True if the store that replaced it was not built from it.
  package var isReplaced: Bool { operation == .adoption || operation == .restoration }

  /// A migration copies rows over; rows written to a store that an adoption or a restoration
  /// replaced are in that store alone.
  package var isPinned: Bool { !isReleased && (isReplaced || alone != nil) }

  /// True if the version isn't pinned, but may be pinned by a finding because the user has not released it.
  var mayBePinned: Bool { !isPinned && (!isReleased || alone?.items.isEmpty == true) }

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

  package var released: PreviousVersionManifest {
    var manifest = self
    manifest.isReleased = true
    return manifest
  }

  /// An empty list releases the version.
  func holding(_ alone: SoleContents) -> PreviousVersionManifest {
    var manifest = self
    manifest.alone = alone
    manifest.isReleased = alone.items.isEmpty
    return manifest
  }

  /// No comparison has found the version's rows in another store.
  var pinned: PreviousVersionManifest {
    var manifest = self
    (manifest.alone, manifest.isReleased) = (SoleContents([]), false)
    return manifest
  }

  /// Manifests of earlier releases lack the successor's generation: a migration's successor is then
  /// any store with a generation that no kept version has; for other operations, every store
  /// passes.
  func isFollowed(byStoreOf generation: String?, among versions: [PreviousVersionFiles]) -> Bool {
    if let successor { return successor == generation ?? "" }
    guard operation == .migration else { return true }
    return generation != nil && !versions.contains { $0.manifest?.generation == generation }
  }

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
    /// With a checksum of its own, as `successor` and `soundness`: earlier releases know neither,
    /// and ignore both.
    var versionName: String?
    var versionNameChecksum: String?
    var generation: String?
    var successor: String?
    var successorChecksum: String?
    var wal: Bool
    var operation: VaultManifest.Operation?
    var alone: SoleContents?
    var released: Bool?
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

package struct SoundnessNote: Equatable, Sendable, Codable {
  /// The first fault in words, without a full stop; `nil` for a sound version.
  package let fault: String?
  let storeBytes: Int64
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

  func fits(_ file: FileStamp?) -> Bool {
    file?.size == storeBytes && file?.times == storeTimes
  }

  var fields: [String?] {
    [fault, String(storeBytes), String(storeChecksum)] + storeTimes.map(String.init)
  }
}
