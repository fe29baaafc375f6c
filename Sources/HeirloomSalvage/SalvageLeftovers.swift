import Foundation
import HeirloomStore
import HeirloomVault

/// The folders of salvages whose process was killed: each holds a copy of a person's data.
struct SalvageLeftovers {
  let files: any FileOperations

  /// A folder without a lock may be one that another process has just made.
  private static let graceSeconds: Int64 = 3600
  private static let namePrefix = ".salvage-"

  /// Holds a folder, so that no other process takes it for a leftover.
  ///
  /// - Parameter folder: The folder.
  /// - Returns: The lock, until it is closed or its process dies; `nil` if another has it, or the volume has no locks.
  func lock(_ folder: String) -> (any FileLock)? {
    try? files.lock(PathText.join(folder, "lock"), timeout: .zero)
  }

  /// Removes the folders that nobody holds; those that can't be removed stay.
  ///
  /// - Parameter directory: The folder in which new stores are made.
  func remove(in directory: String) {
    for name in (try? files.names(in: directory)) ?? [] where Self.isOurs(name) {
      let folder = PathText.join(directory, name)
      guard let status = try? files.status(of: folder), status.kind == .directory else { continue }
      do {
        if try files.status(of: PathText.join(folder, "lock")) != nil {
          guard let lock = lock(folder) else { continue }
          defer { lock.close() }
          try FolderTree(files: files).remove(folder)
        } else if status.modificationTime < Int64(Date().timeIntervalSince1970) - Self.graceSeconds {
          try FolderTree(files: files).remove(folder)
        }
      } catch {
        // It is another user's, or another process removes it.
        continue
      }
    }
  }

  /// Returns true if a folder has a name that only salvage gives.
  private static func isOurs(_ name: String) -> Bool {
    let digits = name.dropFirst(namePrefix.count)
    return name.hasPrefix(namePrefix) && digits.count == 32
      && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
