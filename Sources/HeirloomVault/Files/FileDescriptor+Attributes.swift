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
  /// Gives another file this one's access list and extended attributes, and takes from it those that this one lacks.
  ///
  /// What can't be given is left out, since the content matters more; the rights are then narrower, never wider.
  /// Labels and what a program gets through its file (capabilities) are the system's to give, and are never carried.
  ///
  /// - Parameters:
  ///   - other: The file; nobody but its owner can open it meanwhile.
  ///   - attributes: The permissions and the owner that the file has afterwards.
  /// - Returns: The attributes that were left out.
  /// - Throws: `FileError` when the file can't have its permissions.
  func giveAttributes(to other: FileDescriptor, with attributes: FileAttributes) throws(FileError) -> PassedOver {
    // Whoever may not write a file may not set its attributes, its owner among them.
    try other.apply(FileAttributes(mode: 0o600, owner: attributes.owner, group: attributes.group), for: .giveAttributes)
    var left = PassedOver()
    var mode = attributes.mode
    #if canImport(Darwin)
      if !giveProtection(to: other) { left.note("the protection class") }
      if !copyAttributes(to: other) { left.note("the access list and the extended attributes") }
    #else
      // With an access list, the group's bits are the most that anybody in the list may do, not the group's own rights.
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

  /// The limit for the names and values of one file's attributes together, in bytes.
  private static let attributeByteLimit = 1 << 20
  /// Linux's limit for a list of names and for a value, in bytes.
  private static let valueByteLimit = 65_536

  /// Reads the names of the extended attributes; `nil` when there are too many, or the system can't tell.
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

  /// Reads an attribute into a buffer.
  ///
  /// - Returns: The value's length; less than 0, with the reason in `errno`, when it can't be read.
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

  /// Removes an attribute; true also when there was none.
  private func removeAttribute(_ name: [UInt8]) -> Bool {
    #if canImport(Darwin)
      fremovexattr(number, Self.terminated(name), 0) == 0 || [ENOATTR, ENOTSUP].contains(errno)
    #else
      fremovexattr(number, Self.terminated(name)) == 0 || [ENODATA, ENOTSUP].contains(errno)
    #endif
  }

  private static func terminated(_ name: [UInt8]) -> [CChar] { name.map(CChar.init(bitPattern:)) + [0] }

  #if canImport(Darwin)
    /// Gives another file or folder this file's protection class, by which the system encrypts it.
    ///
    /// - Returns: False when the class can't be set; a volume without classes has none to give.
    func giveProtection(to other: FileDescriptor) -> Bool {
      let wanted = fcntl(number, F_GETPROTECTIONCLASS)
      guard wanted > 0, fcntl(other.number, F_GETPROTECTIONCLASS) != wanted else { return true }
      return fcntl(other.number, F_SETPROTECTIONCLASS, wanted) == 0 || errno == ENOTSUP
    }

    /// False here: an access list leaves the group's bits alone.
    var hasAccessList: Bool { false }

    /// Copies as Apple's own programs do: `fcopyfile(3)` knows which attributes stay with their file.
    private func copyAttributes(to other: FileDescriptor) -> Bool {
      guard let names = attributeNames() else { return false }
      let byteCount = names.reduce(0) { $0 + max(0, fgetxattr(number, Self.terminated($1), nil, 0, 0, 0)) }
      guard byteCount <= Self.attributeByteLimit else { return false }
      let flags = copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)
      return fcopyfile(number, other.number, nil, flags) == 0 || errno == ENOTSUP && names.isEmpty
    }
  #else
    private static let accessList = "system.posix_acl_access"

    /// True when the file has an access list beside its permissions.
    var hasAccessList: Bool { fgetxattr(number, Self.accessList, nil, 0) >= 0 }

    /// Gives another file this one's access list, or takes the list that it got from its folder.
    ///
    /// - Returns: False when the other file may have other rights than this one.
    private func giveAccessList(to other: FileDescriptor) throws(FileError) -> Bool {
      let name = Array(Self.accessList.utf8)
      var list = [UInt8](repeating: 0, count: Self.valueByteLimit)
      let size = readAttribute(name, &list)
      guard size >= 0 else {
        return [ENODATA, ENOTSUP].contains(errno) && (!other.hasAccessList || other.removeAttribute(name))
      }
      // What the list says of the group is meant for this file's group.
      guard try status(for: .giveAttributes).group == other.status(for: .giveAttributes).group else { return false }
      return other.setAttribute(name, list, count: size)
    }

    /// Gives another file this one's other attributes, and takes from it those that this one lacks.
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
        // Somebody may have removed it meanwhile.
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

// MARK: Backups

extension FileDescriptor {
  #if canImport(Darwin)
    /// The mark by which backups leave a folder out: a binary property list of the text `com.apple.backupd`.
    private static let backupMark = (
      name: "com.apple.metadata:com_apple_backup_excludeItem",
      value: Array("bplist00_".utf8) + [0x10, 0x11] + Array("com.apple.backupd".utf8)
        + [8, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 15) + [0x1C]
    )
  #else
    /// The mark by which backups leave a folder out.
    ///
    /// It is one that https://www.freedesktop.org/wiki/CommonExtendedAttributes/ proposes.
    private static let backupMark = (name: "user.xdg.robots.backup", value: Array("false".utf8))
  #endif

  /// Marks an open folder as one that backups leave out, or takes the mark away; writes nothing that is there already.
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
