import Foundation
import Heirloom
import HeirloomOutput

/// A version as a person knows it: by its name, else by the start of its checksum.
struct VersionLabel {
  /// The version checksum of the model; `nil` if it can't be read.
  let checksum: String?
  /// The version's name; `nil` if nobody knows it.
  let name: String?

  /// Creates the label of a kept store.
  ///
  /// - Parameters:
  ///   - name: The name that was kept with the store.
  ///   - checksum: The checksum that was kept with the store.
  ///   - path: The store's file, whose metadata have the checksum else; `nil` to read none.
  ///   - names: The names of other known versions, by their checksums.
  init(_ name: String?, checksum: String?, storedAt path: String? = nil, names: [String: String] = [:]) {
    let metadata = checksum == nil ? path.flatMap { try? StoreMetadata(contentsOf: URL(fileURLWithPath: $0)) } : nil
    let checksum = checksum ?? metadata.map { ManagedObjectModel.versionChecksum(of: $0.versionHashes) }
    self.checksum = checksum
    self.name = name ?? checksum.flatMap { names[$0] }
  }

  /// The version in a line.
  var words: String { name.map { "\"\($0)\"" } ?? checksum.map { "\($0.prefix(8))…" } ?? "unknown" }

  /// The checksum and the name for a program.
  var members: OutputMembers { [("checksum", .optional(checksum)), ("versionName", .optional(name))] }
}
