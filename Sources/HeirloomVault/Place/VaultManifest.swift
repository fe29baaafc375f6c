import Foundation
import HeirloomModel

/// The manifest of an unfinished operation: the files that belong to it, and its progress.
///
/// The store itself decides whether it is the old or the new one; the manifest only lists files that may be removed.
/// Each name in it is checked against the pattern of such names, and none can refer outside the companion folder.
package struct VaultManifest: Equatable, Sendable {
  package enum Operation: String, Hashable, Sendable, Codable {
    case migration
    /// Replaces the store by a previous version.
    case restoration
    /// Replaces the store by a set-aside one.
    case adoption
    case settingAside
    /// Rolls an interrupted change of the store back.
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

  /// 32 hexadecimal digits, and the name of the operation's folder in `incoming`.
  package let identifier: String
  package let operation: Operation
  package var phase: Phase
  package let storeName: String
  /// In `previous`, or in `incompatible` when setting aside.
  package let keptFolder: String?
  package let oldGeneration: String?
  package let newGeneration: String?
  /// In seconds since 1970-01-01 UTC.
  package let time: Int64
  /// In `incompatible`; set only in an adoption.
  package let adoptedSet: String?
  /// True for an adoption in the place of a store that an earlier operation took away, and for
  /// setting a store aside that another operation replaces.
  package let replacesMissing: Bool

  package init(
    identifier: String, operation: Operation, phase: Phase = .linking, storeName: String, keptFolder: String?,
    oldGeneration: String?, newGeneration: String?, time: Int64, adoptedSet: String? = nil,
    replacesMissing: Bool = false
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
    self.replacesMissing = replacesMissing
  }
}

package struct ManifestError: Error, Hashable, Sendable {
  package let reason: String
}

extension VaultManifest {
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
    var missing: Bool?
    var checksum: String
  }

  private var checksum: String {
    ManifestChecksum.text(
      of: [
        "1", identifier, operation.rawValue, phase.rawValue, storeName, keptFolder, oldGeneration, newGeneration,
        String(time),
      ] + (adoptedSet.map { [$0] } ?? []) + (replacesMissing ? ["missing"] : []))
  }

  package func encoded() throws(ManifestError) -> [UInt8] {
    try ManifestChecksum.encode(
      Document(
        format: 1, identifier: identifier, operation: operation, phase: phase, store: storeName, kept: keptFolder,
        oldGeneration: oldGeneration, newGeneration: newGeneration, time: time, adopted: adoptedSet,
        missing: replacesMissing ? true : nil, checksum: checksum))
  }

  package init(decoding bytes: [UInt8]) throws(ManifestError) {
    let document = try ManifestChecksum.decode(Document.self, from: bytes)
    guard document.format == 1 else {
      throw ManifestError(reason: "its format is \(document.format), and 1 was expected")
    }
    self.init(
      identifier: document.identifier, operation: document.operation, phase: document.phase, storeName: document.store,
      keptFolder: document.kept, oldGeneration: document.oldGeneration, newGeneration: document.newGeneration,
      time: document.time, adoptedSet: document.adopted,
      replacesMissing: document.missing ?? false)
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
