// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, TypeNamesShouldBeCapitalized, OneVariableDeclarationPerLine, DoNotUseSemicolons
// The types of Apple's C library as Swift imports them, from its public manual pages: stat(2), statvfs(3), statfs(2),
// getrusage(2), getrlimit(2), dir(5), types(5), getitimer(2), pthread(3), acl(3). Only names, members and widths count; nothing runs. (C's
// structs without pointers are `Sendable` when they are imported.)
//
// They have a module of their own because Swift refuses `struct stat` beside `func stat` in one module.
@_exported import RealFoundation

// types(5), with the widths of 64-bit systems.
public typealias mode_t = UInt16
public typealias dev_t = Int32
public typealias ino_t = UInt64
public typealias nlink_t = UInt16
public typealias uid_t = UInt32
public typealias gid_t = UInt32
public typealias pid_t = Int32
public typealias off_t = Int64
public typealias time_t = Int
public typealias suseconds_t = Int32
public typealias blkcnt_t = Int64
public typealias blksize_t = Int32
public typealias fsblkcnt_t = UInt32
public typealias fsfilcnt_t = UInt32
public typealias rlim_t = UInt64
public typealias copyfile_flags_t = UInt32
public typealias copyfile_state_t = OpaquePointer
public typealias sigset_t = UInt32
public typealias sig_t = @convention(c) (Int32) -> Void

public struct timespec: Sendable {
  public init() { fatalError() }
  public init(tv_sec: Int, tv_nsec: Int) { fatalError() }
  public var tv_sec, tv_nsec: Int
}

public struct timeval: Sendable {
  public init() { fatalError() }
  public init(tv_sec: Int, tv_usec: Int32) { fatalError() }
  public var tv_sec: Int, tv_usec: Int32
}

public struct itimerval: Sendable {
  public init() { fatalError() }
  public init(it_interval: timeval, it_value: timeval) { fatalError() }
  public var it_interval: timeval, it_value: timeval
}

public struct stat: Sendable {
  public init() { fatalError() }
  public var st_dev: dev_t, st_mode: mode_t, st_nlink: nlink_t, st_ino: ino_t, st_uid: uid_t, st_gid: gid_t
  public var st_rdev: dev_t
  public var st_atimespec: timespec, st_mtimespec: timespec, st_ctimespec: timespec, st_birthtimespec: timespec
  public var st_size: off_t, st_blocks: blkcnt_t, st_blksize: blksize_t, st_flags: UInt32, st_gen: UInt32
}

public struct statvfs: Sendable {
  public init() { fatalError() }
  public var f_bsize: UInt, f_frsize: UInt, f_blocks: fsblkcnt_t, f_bfree: fsblkcnt_t, f_bavail: fsblkcnt_t
  public var f_files: fsfilcnt_t, f_ffree: fsfilcnt_t, f_favail: fsfilcnt_t
  public var f_fsid: UInt, f_flag: UInt, f_namemax: UInt
}

public struct statfs: Sendable {
  public init() { fatalError() }
  public var f_bsize: UInt32, f_iosize: Int32, f_blocks: UInt64, f_bfree: UInt64, f_bavail: UInt64
  public var f_files: UInt64, f_ffree: UInt64, f_type: UInt32, f_flags: UInt32
  // (Sixteen characters; the two names of paths that follow are left out.)
  public var f_fstypename:
    (
      CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar
    )
}

public struct dirent: Sendable {
  public init() { fatalError() }
  public var d_ino: UInt64, d_seekoff: UInt64, d_reclen: UInt16, d_namlen: UInt16, d_type: UInt8
  // (1,024 characters; Swift has no shorter way to write them, and nothing here depends on their number.)
  public var d_name: (CChar, CChar, CChar, CChar)
}

public struct DIR {}

public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias posix_spawnattr_t = UnsafeMutableRawPointer

public struct __sFILE {}
public typealias FILE = __sFILE

public struct flock: Sendable {
  public init() { fatalError() }
  public var l_start: off_t, l_len: off_t, l_pid: pid_t, l_type: Int16, l_whence: Int16
}

public struct winsize: Sendable {
  public init() { fatalError() }
  public init(ws_row: UInt16, ws_col: UInt16, ws_xpixel: UInt16, ws_ypixel: UInt16) { fatalError() }
  public var ws_row: UInt16, ws_col: UInt16, ws_xpixel: UInt16, ws_ypixel: UInt16
}

public struct rusage: Sendable {
  public init() { fatalError() }
  public var ru_utime: timeval, ru_stime: timeval, ru_maxrss: Int
}

public struct rlimit: Sendable {
  public init() { fatalError() }
  public init(rlim_cur: rlim_t, rlim_max: rlim_t) { fatalError() }
  public var rlim_cur: rlim_t, rlim_max: rlim_t
}

public struct clockid_t: RawRepresentable, Sendable {
  public init(_ value: UInt32) { rawValue = value }
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public var rawValue: UInt32
}

public typealias acl_t = OpaquePointer

public struct acl_type_t: RawRepresentable, Sendable {
  public init(_ value: UInt32) { rawValue = value }
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public var rawValue: UInt32
}

public struct _opaque_pthread_t {}
public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>

public struct pthread_attr_t { public init() { fatalError() } }

public struct qos_class_t: RawRepresentable, Sendable {
  public init(_ value: UInt32) { rawValue = value }
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public var rawValue: UInt32
}
