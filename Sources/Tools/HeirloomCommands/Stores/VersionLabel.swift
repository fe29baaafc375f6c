import Foundation
import Heirloom
import HeirloomOutput

/// A version's text in output: its name, or else the start of its checksum.
struct VersionLabel {
  /// The model's version checksum; `nil` if it can't be read.
  let checksum: String?
  /// The version's name; `nil` if it isn't known.
  let name: String?

  /// Creates the label of a kept store, with the name and checksum kept with it.
  ///
  /// Without a checksum, the metadata of the store at `path` is read; `nil` reads none. `names` has the names of other
  /// known versions, by checksum.
  init(_ name: String?, checksum: String?, storedAt path: String? = nil, names: [String: String] = [:]) {
    let metadata = checksum == nil ? path.flatMap { try? StoreMetadata(contentsOf: URL(fileURLWithPath: $0)) } : nil
    let checksum = checksum ?? metadata.map { ManagedObjectModel.versionChecksum(of: $0.versionHashes) }
    self.checksum = checksum
    self.name = name ?? checksum.flatMap { names[$0] }
  }

  var words: String { name.map { "\"\($0)\"" } ?? checksum.map { "\($0.prefix(8))…" } ?? "unknown" }

  /// The checksum and the name for JSON.
  var members: OutputMembers { [("checksum", .optional(checksum)), ("versionName", .optional(name))] }
}
