import CHeirloomSQLite
import Foundation
import HeirloomStore

/// A device that can be locked: SQLite can then open no file in one folder, as for a protection
/// class of Apple's.
package final class LockedDevice: Sendable {
  /// Files whose path contains this name can't be opened while the device is locked.
  package let folderName = "protected-\(UUID().uuidString)"

  private static let locked = Locked<Set<String>>([])

  private static let install: Void = {
    guard let files = sqlite3_vfs_find(nil) else { return }
    let opening: @convention(c) (UnsafePointer<CChar>, Int32, Int32) -> Int32 = { path, flags, mode in
      let text = String(cString: path)
      guard LockedDevice.locked.withLock({ $0.contains { text.contains($0) } }) else {
        return open(path, flags, mode_t(mode))
      }
      errno = EPERM
      return -1
    }
    _ = files.pointee.xSetSystemCall(files, "open", unsafeBitCast(opening, to: sqlite3_syscall_ptr.self))
  }()

  package init() {}

  package func whileLocked<Value>(_ body: () throws -> Value) rethrows -> Value {
    Self.install
    Self.locked.withLock { _ = $0.insert(folderName) }
    defer { Self.locked.withLock { _ = $0.remove(folderName) } }
    return try body()
  }
}
