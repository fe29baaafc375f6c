#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  internal import CHeirloomFiles
  import Musl
#else
  internal import CHeirloomFiles
  import Glibc
#endif

extension FileDescriptor {
  /// Attributes that can't be copied are skipped and returned: the permissions are then narrower,
  /// never wider.
  ///
  /// Security labels and capabilities are set by the system and never copied. Until the last step,
  /// only the other file's owner can open it.
  func giveAttributes(to other: FileDescriptor, with attributes: FileAttributes) throws(FileError) -> PassedOver {
    // Attributes can't be set without write permission, not even by the owner.
    try other.apply(FileAttributes(mode: 0o600, owner: attributes.owner, group: attributes.group), for: .giveAttributes)
    var left = PassedOver()
    var mode = attributes.mode
    #if canImport(Darwin)
      if !giveProtection(to: other) { left.note("the protection class") }
      if !copyAttributes(to: other) { left.note("the access list and the extended attributes") }
    #else
      // With an access list, the group bits are the mask of the list, not the group's own rights.
      if try !giveAccessList(to: other) {
        left.note(Self.accessList)
        mode &= ~0o070
      }
      giveExtendedAttributes(to: other, &left)
    #endif
    try other.apply(
      FileAttributes(mode: mode, owner: attributes.owner, group: attributes.group), for: .giveAttributes)
    return left
  }

  private static let attributeByteLimit = 1 << 20
  /// Linux's limit for a list of names and for one value.
  private static let valueByteLimit = 65_536

  private func attributeNames() -> [[UInt8]]? {
    var names = [CChar](repeating: 0, count: Self.valueByteLimit)
    #if canImport(Darwin)
      let length = flistxattr(number, &names, names.count, 0)
    #else
      let length = flistxattr(number, &names, names.count)
    #endif
    guard length >= 0 else { return errno == ENOTSUP ? [] : nil }
    return names[..<length].split(separator: 0).map { $0.map(UInt8.init(bitPattern:)) }
  }

  /// Below 0, with the reason in `errno`, if the attribute can't be read.
  private func readAttribute(_ name: [UInt8], _ value: inout [UInt8]) -> Int {
    #if canImport(Darwin)
      fgetxattr(number, Self.terminated(name), &value, value.count, 0, 0)
    #else
      fgetxattr(number, Self.terminated(name), &value, value.count)
    #endif
  }

  private func setAttribute(_ name: [UInt8], _ value: [UInt8], count: Int) -> Bool {
    #if canImport(Darwin)
      fsetxattr(number, Self.terminated(name), value, count, 0, 0) == 0
    #else
      fsetxattr(number, Self.terminated(name), value, count, 0) == 0
    #endif
  }

  private func removeAttribute(_ name: [UInt8]) -> Bool {
    #if canImport(Darwin)
      fremovexattr(number, Self.terminated(name), 0) == 0 || [ENOATTR, ENOTSUP].contains(errno)
    #else
      fremovexattr(number, Self.terminated(name)) == 0 || [ENODATA, ENOTSUP].contains(errno)
    #endif
  }

  private static func terminated(_ name: [UInt8]) -> [CChar] { name.map(CChar.init(bitPattern:)) + [0] }

  #if canImport(Darwin)
    /// The class decides how the system encrypts a file; true on a volume without classes.
    func giveProtection(to other: FileDescriptor) -> Bool {
      let wanted = fcntl(number, F_GETPROTECTIONCLASS)
      guard wanted > 0, fcntl(other.number, F_GETPROTECTIONCLASS) != wanted else { return true }
      return fcntl(other.number, F_SETPROTECTIONCLASS, wanted) == 0 || errno == ENOTSUP
    }

    /// On Apple's systems an access list doesn't change the meaning of the group bits.
    var hasAccessList: Bool { false }

    /// Copies as Apple's own programs do: `fcopyfile(3)` knows which attributes must not be copied.
    private func copyAttributes(to other: FileDescriptor) -> Bool {
      guard let names = attributeNames() else { return false }
      let byteCount = names.reduce(0) { $0 + max(0, fgetxattr(number, Self.terminated($1), nil, 0, 0, 0)) }
      guard byteCount <= Self.attributeByteLimit else { return false }
      let flags = copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)
      return fcopyfile(number, other.number, nil, flags) == 0 || errno == ENOTSUP && names.isEmpty
    }
  #else
    private static let accessList = "system.posix_acl_access"

    var hasAccessList: Bool { fgetxattr(number, Self.accessList, nil, 0) >= 0 }

    /// Also removes the list that the other file got from its folder; false if rights may differ.
    private func giveAccessList(to other: FileDescriptor) throws(FileError) -> Bool {
      let name = Array(Self.accessList.utf8)
      var list = [UInt8](repeating: 0, count: Self.valueByteLimit)
      let size = readAttribute(name, &list)
      guard size >= 0 else {
        return [ENODATA, ENOTSUP].contains(errno) && (!other.hasAccessList || other.removeAttribute(name))
      }
      // The list's entry for the owning group is meant for this file's group.
      guard try status(for: .giveAttributes).group == other.status(for: .giveAttributes).group else { return false }
      return other.setAttribute(name, list, count: size)
    }

    private func giveExtendedAttributes(to other: FileDescriptor, _ left: inout PassedOver) {
      func isCarried(_ name: [UInt8]) -> Bool {
        let text = String(decoding: name, as: UTF8.self)
        return text != Self.accessList && !text.hasPrefix("security.") && !text.hasPrefix("trusted.")
      }
      guard let names = attributeNames() else { return left.note("the extended attributes") }
      let wanted = Set(names)
      for name in other.attributeNames() ?? [] where isCarried(name) && !wanted.contains(name) {
        if !other.removeAttribute(name) { left.note(PathText.text(of: name)) }
      }
      var value = [UInt8](repeating: 0, count: Self.valueByteLimit)
      var room = Self.attributeByteLimit
      for name in names where isCarried(name) {
        let size = readAttribute(name, &value)
        // The attribute may have been removed meanwhile.
        if size < 0, errno == ENODATA { continue }
        room -= name.count + max(0, size)
        guard size >= 0, room >= 0, other.setAttribute(name, value, count: size) else {
          left.note(PathText.text(of: name))
          continue
        }
      }
    }
  #endif
}

extension FileDescriptor {
  #if canImport(Darwin)
    /// A binary property list of the text `com.apple.backupd`.
    private static let backupMark = (
      name: "com.apple.metadata:com_apple_backup_excludeItem",
      value: Array("bplist00_".utf8) + [0x10, 0x11] + Array("com.apple.backupd".utf8)
        + [8, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 15) + [0x1C]
    )
  #else
    /// https://www.freedesktop.org/wiki/CommonExtendedAttributes/ proposes this attribute.
    private static let backupMark = (name: "user.xdg.robots.backup", value: Array("false".utf8))
  #endif

  func setExcludedFromBackup(_ isExcluded: Bool) throws(FileError) {
    let name = Array(Self.backupMark.name.utf8)
    let value = Self.backupMark.value
    var present = [UInt8](repeating: 0, count: 256)
    let size = max(0, readAttribute(name, &present))
    if isExcluded, present[..<size] == value[...] { return }
    guard isExcluded ? setAttribute(name, value, count: value.count) : removeAttribute(name) else {
      throw FileError(.giveAttributes, path, code: errno)
    }
  }
}
