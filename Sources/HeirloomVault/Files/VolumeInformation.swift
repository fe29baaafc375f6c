package struct VolumeInformation: Equatable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// A local file system with atomic renames and durable folders.
    case local
    /// A file system in memory: nothing survives a loss of power, everything survives the process's death.
    case memory
    /// A file system of another machine: locks and renames are not reliable.
    case network
    /// A file system implemented by a program (FUSE), whose guarantees are the program's.
    case userSpace
    /// FAT or a relative: no links, no stable file numbers, no journal.
    case fileAllocationTable
    case unknown

    /// True when the promise “never lost” holds on such volumes.
    package var isSafe: Bool {
      switch self {
      case .local, .memory, .unknown: true
      case .network, .userSpace, .fileAllocationTable: false
      }
    }
  }

  package let kind: Kind
  /// Such as `ext4`; empty if the system doesn't report it.
  package let fileSystemName: String
  package let availableBytes: UInt64
  /// A mount point can't be replaced by another file; containers mount single files.
  package let isMountPoint: Bool

  package init(kind: Kind, fileSystemName: String, availableBytes: UInt64, isMountPoint: Bool = false) {
    self.kind = kind
    self.fileSystemName = fileSystemName
    self.availableBytes = availableBytes
    self.isMountPoint = isMountPoint
  }

  package static func kind(ofFileSystem name: String) -> Kind {
    switch name {
    case "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "jfs", "reiserfs", "nilfs2", "overlay",
      "aufs", "apfs", "hfs", "hfsplus", "ntfs3", "ufs", "ubifs":
      .local
    case "tmpfs", "ramfs", "devtmpfs": .memory
    case "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "afpfs", "ceph", "lustre", "gfs2", "ocfs2", "webdav",
      "ncpfs", "coda":
      .network
    case "vfat", "msdos", "exfat", "umsdos": .fileAllocationTable
    case "virtiofs", "macfuse", "osxfuse", "ntfs", "fusefs": .userSpace
    case _ where name.hasPrefix("fuse"): .userSpace
    default: .unknown
    }
  }

  /// Parses `/proc/self/mountinfo` (see `proc_pid_mountinfo(5)`): the deepest mount point above the
  /// path counts; of two at one place, the later one.
  package static func mount(
    of path: String, inMountTable table: String
  ) -> (fileSystemName: String, isAtPath: Bool)? {
    // Compared as bytes: paths are bytes, and the table has hundreds of lines on a host of containers.
    let place = Array(path.utf8) + (path.hasSuffix("/") ? [] : [slash])
    var best: (depth: Int, name: String)?
    for line in table.utf8.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "))
      // Optional fields end at a lone dash; the type follows it.
      guard fields.count > 6, let dash = fields.dropFirst(6).firstIndex(where: { $0.elementsEqual("-".utf8) }),
        dash + 1 < fields.count
      else { continue }
      var mountPoint = unescaped(fields[4])
      if mountPoint.last != slash { mountPoint.append(slash) }
      guard mountPoint.count >= best?.depth ?? 0, place.starts(with: mountPoint) else { continue }
      best = (mountPoint.count, String(decoding: fields[dash + 1], as: UTF8.self))
    }
    return best.map { ($0.name, $0.depth == place.count) }
  }

  private static let slash = UInt8(ascii: "/")

  /// The mount table has octal escapes (`\040` is a space).
  private static func unescaped(_ text: Substring.UTF8View) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
