import Foundation
import HeirloomStore
import HeirloomVault

/// The folders of killed salvages, each of which contains a copy of user data.
struct SalvageLeftovers {
  let files: any FileOperations

  /// A folder without a lock may be one that another process just made.
  private static let graceSeconds: Int64 = 3600
  private static let namePrefix = ".salvage-"

  /// Protects a folder from other processes until the lock is closed or this process ends.
  ///
  /// `nil` if another process has the lock, or the volume doesn't support locks.
  func lock(_ folder: String) -> (any FileLock)? {
    try? files.lock(PathText.join(folder, "lock"), timeout: .zero)
  }

  /// `directory` is where new stores are made; folders that are locked or can't be removed stay.
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
        // It belongs to another user, or another process is removing it.
        continue
      }
    }
  }

  /// Only salvage uses such names.
  private static func isOurs(_ name: String) -> Bool {
    let digits = name.dropFirst(namePrefix.count)
    return name.hasPrefix(namePrefix) && digits.count == 32
      && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
