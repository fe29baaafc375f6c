/// The status of a name in a folder; a symbolic link is not followed.
package struct FileStatus: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case regular = "file"
    case directory = "folder"
    case symbolicLink = "symbolic link"
    case pipe = "named pipe"
    case socket = "socket"
    case device = "device"
    case other = "special file"
  }

  package struct Identity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
      self.device = device
      self.inode = inode
    }
  }

  package let kind: Kind
  package let size: Int64
  package let identity: Identity
  package let linkCount: UInt64
  package let mode: UInt32
  package let owner: UInt32
  package let group: UInt32
  /// In seconds since 1970-01-01 UTC.
  package let modificationTime: Int64
  /// The part of the modification time below a second.
  let modificationNanoseconds: Int64

  package init(
    kind: Kind, size: Int64, identity: Identity, linkCount: UInt64, mode: UInt32, owner: UInt32, group: UInt32,
    modificationTime: Int64, modificationNanoseconds: Int64 = 0
  ) {
    self.kind = kind
    self.size = size
    self.identity = identity
    self.linkCount = linkCount
    self.mode = mode
    self.owner = owner
    self.group = group
    self.modificationTime = modificationTime
    self.modificationNanoseconds = modificationNanoseconds
  }

  /// False if the file was replaced or written to, as far as its size and time show: a file system
  /// may round times, and a program may set them.
  package func isUnchanged(since earlier: FileStatus?) -> Bool {
    identity == earlier?.identity && size == earlier?.size && modificationTime == earlier?.modificationTime
      && modificationNanoseconds == earlier?.modificationNanoseconds
  }

  /// Known only of an open file; the group bits are then not the rights of its group.
  package internal(set) var hasAccessList = false

  /// A folder keeps the sticky bit (only a name's owner removes it) and the set-group-ID bit (new
  /// names get its group).
  package var attributes: FileAttributes {
    FileAttributes(mode: attributesBesideList.mode & (hasAccessList ? ~0o070 : ~0), owner: owner, group: group)
  }

  /// For a file that gets this one's access list as well.
  var attributesBesideList: FileAttributes {
    FileAttributes(mode: mode & (kind == .directory ? 0o3777 : 0o777), owner: owner, group: group)
  }
}

/// The permissions and the owner of a new file.
package struct FileAttributes: Equatable, Sendable {
  /// Exact: not narrowed by the process's umask.
  package let mode: UInt32
  /// `nil` leaves the process's own; only the superuser can set it, and a failure is no error.
  package let owner: UInt32?
  package let group: UInt32?

  package init(mode: UInt32, owner: UInt32? = nil, group: UInt32? = nil) {
    self.mode = mode
    self.owner = owner
    self.group = group
  }
}
