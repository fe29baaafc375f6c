import Foundation
import Heirloom
import HeirloomOutput

enum SnapshotExport {
  /// A file name that stays in its folder, whatever the version's name.
  static func fileName(_ version: String) -> String {
    let name = String(version.map { $0 == "/" || $0 == "\0" ? "-" : $0 })
    return (name.hasPrefix(".") ? "model" + name : name) + ".json"
  }

  /// False if the file has the same content already; replaces only a snapshot of the same version.
  static func write(_ snapshot: ModelSnapshot, to path: String) throws -> Bool {
    let bytes = try snapshot.bytes(path.hasSuffix(".gz") ? .compressed : .readable)
    let file = SnapshotFile(path: path, files: POSIXFileOperations())
    switch PathKind(path) {
    case .missing: break
    case .file:
      let found = try file.read() ?? []
      if found == bytes { return false }
      guard let other = try? ModelSnapshot(bytes: found), other.versionChecksum == snapshot.versionChecksum else {
        throw refusal(path)
      }
    default: throw refusal(path)
    }
    try file.write(bytes)
    return true
  }

  private static func refusal(_ path: String) -> CommandFailure {
    CommandFailure(
      exitCode: .failed, code: "fileExists", coreDataCode: 516,
      message: "\(path) exists and isn't a snapshot of this version; it was not changed.",
      suggestion: "Name another file with --output, or move that one away.")
  }
}
