#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  internal import CHeirloomFiles
  import Musl
#else
  internal import CHeirloomFiles
  import Glibc
#endif

/// The system's own calls; they follow no symbolic link.
package enum ExtendedAttributes {
  /// False if the system refuses it.
  @discardableResult
  package static func set(_ name: String, _ value: [UInt8], _ path: String) -> Bool {
    set(Array(name.utf8CString), value, path)
  }

  /// The bytes of the name end with 0; false if the system refuses it.
  @discardableResult
  package static func set(_ name: [CChar], _ value: [UInt8], _ path: String) -> Bool {
    #if canImport(Darwin)
      setxattr(path, name, value, value.count, 0, XATTR_NOFOLLOW) == 0
    #else
      lsetxattr(path, name, value, value.count, 0) == 0
    #endif
  }

  package static func value(_ name: String, _ path: String) -> [UInt8]? {
    var value = [UInt8](repeating: 0, count: 65_536)
    #if canImport(Darwin)
      let size = getxattr(path, name, &value, value.count, 0, XATTR_NOFOLLOW)
    #else
      let size = lgetxattr(path, name, &value, value.count)
    #endif
    return size < 0 ? nil : Array(value.prefix(size))
  }

  /// All but the POSIX access list.
  package static func names(_ path: String) -> Set<[CChar]> {
    var names = [CChar](repeating: 0, count: 65_536)
    #if canImport(Darwin)
      let length = listxattr(path, &names, names.count, XATTR_NOFOLLOW)
    #else
      let length = llistxattr(path, &names, names.count)
    #endif
    let accessList = "system.posix_acl_access".utf8.map(CChar.init(bitPattern:))
    return Set(names.prefix(max(0, length)).split(separator: 0).map(Array.init)).subtracting([accessList])
  }

  /// The attribute that keeps a folder out of backups.
  package static let backupMark: (name: String, value: [UInt8]) = {
    #if canImport(Darwin)
      // `plutil -convert binary1` of the text com.apple.backupd, as `tmutil addexclusion` writes
      // it.
      let value: [UInt8] = [
        0x62, 0x70, 0x6C, 0x69, 0x73, 0x74, 0x30, 0x30, 0x5F, 0x10, 0x11, 0x63, 0x6F, 0x6D, 0x2E, 0x61, 0x70, 0x70,
        0x6C, 0x65, 0x2E, 0x62, 0x61, 0x63, 0x6B, 0x75, 0x70, 0x64, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
        0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1C,
      ]
      return ("com.apple.metadata:com_apple_backup_excludeItem", value)
    #else
      return ("user.xdg.robots.backup", Array("false".utf8))
    #endif
  }()
}
