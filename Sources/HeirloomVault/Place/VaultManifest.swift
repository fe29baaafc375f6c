import Foundation
import HeirloomModel

/// The manifest of an unfinished operation: the files that belong to it, and its progress.
///
/// The store itself decides whether it is the old or the new one; the manifest only lists files that may be removed.
/// Each name in it is checked against the pattern of such names, and none can refer outside the companion folder.
package struct VaultManifest: Equatable, Sendable {
  /// The kinds of the vault's operations.
  package enum Operation: String, Hashable, Sendable, Codable {
    /// A migration, which replaces the store by one of another model.
    case migration
    /// A restoration, which replaces the store by a previous version.
    case restoration
    /// An adoption, which replaces the store by a set-aside one.
    case adoption
    /// A setting aside of the store, without a replacement.
    case settingAside
    /// A rollback of an interrupted change in the store.
    case undoing
  }

  /// The way in which the old store is being kept, which decides how recovery distinguishes old and new.
  package enum Phase: String, Hashable, Sendable, Codable {
    /// Keeping by hard links: the store is still the old one while it is the same file as the kept one.
    case linking
    /// Keeping by copies, where links are refused: the generation in the store's metadata decides.
    case copying
    /// The removal of the store's own names, once the whole set is set aside.
    case removing
  }

  /// The operation's identifier: 32 hexadecimal digits, and the name of its folder in `incoming`.
  package let identifier: String
  /// The unfinished operation.
  package let operation: Operation
  /// The progress of the operation.
  package var phase: Phase
  /// The name of the store's main file.
  package let storeName: String
  /// The folder in `previous` (or `incompatible`, when setting aside) for the old store; `nil` if there is none.
  package let keptFolder: String?
  /// The generation of the store before, if it has one.
  package let oldGeneration: String?
  /// The generation of the store after, if it has one.
  package let newGeneration: String?
  /// The time of the start, in seconds since 1970-01-01 UTC.
  package let time: Int64
  /// The folder in `incompatible` of the set-aside store that returns; `nil` if the operation is no adoption.
  package let adoptedSet: String?

  /// Creates a manifest.
  package init(
    identifier: String, operation: Operation, phase: Phase = .linking, storeName: String, keptFolder: String?,
    oldGeneration: String?, newGeneration: String?, time: Int64, adoptedSet: String? = nil
  ) {
    self.identifier = identifier
    self.operation = operation
    self.phase = phase
    self.storeName = storeName
    self.keptFolder = keptFolder
    self.oldGeneration = oldGeneration
    self.newGeneration = newGeneration
    self.time = time
    self.adoptedSet = adoptedSet
  }
}

/// An error in a manifest.
package struct ManifestError: Error, Hashable, Sendable {
  /// A phrase that says what is wrong.
  package let reason: String
}

extension VaultManifest {
  /// The size limit for reading a manifest, in bytes.
  package static let byteLimit = 65_536

  private struct Document: Codable {
    var format: Int
    var identifier: String
    var operation: Operation
    var phase: Phase
    var store: String
    var kept: String?
    var oldGeneration: String?
    var newGeneration: String?
    var time: Int64
    var adopted: String?
    var checksum: String
  }

  private var checksum: String {
    ManifestChecksum.text(
      of: [
        "1", identifier, operation.rawValue, phase.rawValue, storeName, keptFolder, oldGeneration, newGeneration,
        String(time),
      ] + (adoptedSet.map { [$0] } ?? []))
  }

  /// Returns the manifest as JSON with its checksum.
  package func encoded() throws(ManifestError) -> [UInt8] {
    try ManifestChecksum.encode(
      Document(
        format: 1, identifier: identifier, operation: operation, phase: phase, store: storeName, kept: keptFolder,
        oldGeneration: oldGeneration, newGeneration: newGeneration, time: time, adopted: adoptedSet,
        checksum: checksum))
  }

  /// Reads a manifest; throws if it is damaged, of a later format, or names files that are not the vault's.
  package init(decoding bytes: [UInt8]) throws(ManifestError) {
    let document = try ManifestChecksum.decode(Document.self, from: bytes)
    guard document.format == 1 else {
      throw ManifestError(reason: "its format is \(document.format), and 1 was expected")
    }
    self.init(
      identifier: document.identifier, operation: document.operation, phase: document.phase, storeName: document.store,
      keptFolder: document.kept, oldGeneration: document.oldGeneration, newGeneration: document.newGeneration,
      time: document.time, adoptedSet: document.adopted)
    guard checksum == document.checksum else { throw ManifestError(reason: "its checksum does not fit its content") }
    guard VersionName.isIdentifier(identifier), PathText.isFileName(storeName),
      keptFolder.map({ VersionName($0)?.text.hasSuffix("-" + identifier.prefix(8)) ?? false }) ?? true
    else { throw ManifestError(reason: "it names files that are not the vault's") }
    guard phase != .removing || operation == .settingAside, operation != .settingAside || keptFolder != nil else {
      throw ManifestError(reason: "its phase does not fit its operation")
    }
    guard adoptedSet.map({ VersionName(dated: $0) != nil }) ?? true, (operation == .adoption) == (adoptedSet != nil),
      operation != .undoing
    else { throw ManifestError(reason: "its fields do not fit its operation") }
  }
}

/// The shared format of manifests: JSON with a checksum over the fields.
enum ManifestChecksum {
  /// Returns the SHA-256 digest of a list of fields, each with its length, as hexadecimal digits.
  static func text(of fields: [String?]) -> String {
    var digest = SHA256()
    for field in fields {
      digest.update(littleEndian: Int64(field?.utf8.count ?? -1))
      digest.update(field ?? "")
    }
    return digest.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  static func encode(_ document: some Encodable) throws(ManifestError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return Array(try encoder.encode(document)) + [UInt8(ascii: "\n")]
    } catch {
      throw ManifestError(reason: "it can't be written: \(error)")
    }
  }

  static func decode<Document: Decodable>(_ type: Document.Type, from bytes: [UInt8]) throws(ManifestError) -> Document
  {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw ManifestError(reason: "it is not the JSON that was expected")
    }
  }
}
