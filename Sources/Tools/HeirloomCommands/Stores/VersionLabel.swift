import Foundation
import Heirloom
import HeirloomOutput

/// A version's text in output: its name, or else the start of its checksum.
struct VersionLabel {
  let checksum: String?
  let name: String?

  /// Without a checksum, the metadata of the store at `path` is read.
  init(_ name: String?, checksum: String?, storedAt path: String? = nil, names: [String: String] = [:]) {
    let metadata = checksum == nil ? path.flatMap { try? StoreMetadata(contentsOf: URL(fileURLWithPath: $0)) } : nil
    let checksum = checksum ?? metadata.map { ManagedObjectModel.versionChecksum(of: $0.versionHashes) }
    self.checksum = checksum
    self.name = name ?? checksum.flatMap { names[$0] }
  }

  var words: String { name.map { "\"\($0)\"" } ?? checksum.map { "\($0.prefix(8))…" } ?? "unknown" }

  var members: OutputMembers { [("checksum", .optional(checksum)), ("versionName", .optional(name))] }
}
