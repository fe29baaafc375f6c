/// The status of a name in a folder; a symbolic link is not followed.
package struct FileStatus: Hashable, Sendable {
  /// The kinds of file that a name can refer to.
  package enum Kind: String, Hashable, Sendable {
    /// A file with content.
    case regular = "file"
    /// A folder.
    case directory = "folder"
    /// A symbolic link.
    case symbolicLink = "symbolic link"
    /// A named pipe.
    case pipe = "named pipe"
    /// A socket.
    case socket = "socket"
    /// A character or block device.
    case device = "device"
    /// Anything else.
    case other = "special file"
  }

  /// The identity of a file, the same for all of its names.
  package struct Identity: Hashable, Sendable {
    /// The volume's number.
    package let device: UInt64
    /// The file's number in the volume.
    package let inode: UInt64

    /// Creates an identity from its numbers.
    package init(device: UInt64, inode: UInt64) {
      self.device = device
      self.inode = inode
    }
  }

  /// The kind of file.
  package let kind: Kind
  /// The content's length, in bytes.
  package let size: Int64
  /// The volume's and the file's number, equal for two names of one file.
  package let identity: Identity
  /// The number of the file's names.
  package let linkCount: UInt64
  /// The permission bits, at most `0o7777`.
  package let mode: UInt32
  /// The owning user's number.
  package let owner: UInt32
  /// The owning group's number.
  package let group: UInt32
  /// The time of the last change of content, in whole seconds since 1970-01-01 UTC.
  package let modificationTime: Int64

  /// Creates a status from its parts.
  package init(
    kind: Kind, size: Int64, identity: Identity, linkCount: UInt64, mode: UInt32, owner: UInt32, group: UInt32,
    modificationTime: Int64
  ) {
    self.kind = kind
    self.size = size
    self.identity = identity
    self.linkCount = linkCount
    self.mode = mode
    self.owner = owner
    self.group = group
    self.modificationTime = modificationTime
  }

  /// True when an open file was found to have an access list: the group bits are then not the rights of its group.
  package internal(set) var hasAccessList = false

  /// The permissions and owner for a file or folder that replaces this one, without an access list.
  ///
  /// A folder keeps the sticky bit (only a name's owner removes it) and the set-group-ID bit (new names get its group).
  package var attributes: FileAttributes {
    FileAttributes(mode: attributesBesideList.mode & (hasAccessList ? ~0o070 : ~0), owner: owner, group: group)
  }

  /// The same for a file that gets this one's access list as well.
  var attributesBesideList: FileAttributes {
    FileAttributes(mode: mode & (kind == .directory ? 0o3777 : 0o777), owner: owner, group: group)
  }
}

/// The permissions and the owner of a new file.
package struct FileAttributes: Equatable, Sendable {
  /// The exact permission bits, not narrowed by the process's umask.
  package let mode: UInt32
  /// The owning user's number; `nil` leaves the process's own.
  ///
  /// Usually only the superuser can set it; a failure to set it is not an error.
  package let owner: UInt32?
  /// The owning group's number; `nil` leaves the process's own.
  package let group: UInt32?

  /// Creates attributes.
  package init(mode: UInt32, owner: UInt32? = nil, group: UInt32? = nil) {
    self.mode = mode
    self.owner = owner
    self.group = group
  }
}
