// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// The constants of Apple's C library, from its public manual pages. Swift imports a macro's number as `Int32`; those
// of modes have the type `mode_t`. The values don't matter to the check.
import DarwinTypes

// open(2), fcntl(2) and its header, flock(2), access(2), copyfile(3), clonefile(2).
public var O_RDONLY: Int32 { 0 }
public var O_WRONLY: Int32 { 1 }
public var O_RDWR: Int32 { 2 }
public var O_NONBLOCK: Int32 { 4 }
public var O_CREAT: Int32 { 512 }
public var O_TRUNC: Int32 { 1024 }
public var O_EXCL: Int32 { 2048 }
public var O_DIRECTORY: Int32 { 1048576 }
public var O_NOFOLLOW: Int32 { 256 }
public var O_CLOEXEC: Int32 { 16777216 }
public var O_APPEND: Int32 { 8 }
public var O_NOCTTY: Int32 { 131072 }
public var AT_FDCWD: Int32 { -2 }
public var AT_SYMLINK_NOFOLLOW: Int32 { 32 }
public var AT_REMOVEDIR: Int32 { 128 }
public var LOCK_SH: Int32 { 1 }
public var LOCK_EX: Int32 { 2 }
public var LOCK_NB: Int32 { 4 }
public var LOCK_UN: Int32 { 8 }
public var R_OK: Int32 { 4 }
public var W_OK: Int32 { 2 }
public var X_OK: Int32 { 1 }
public var F_OK: Int32 { 0 }
public var F_FULLFSYNC: Int32 { 51 }
public var F_BARRIERFSYNC: Int32 { 85 }
public var F_SETFL: Int32 { 4 }
public var F_GETFL: Int32 { 3 }
public var F_NOCACHE: Int32 { 48 }
public var F_GETPROTECTIONCLASS: Int32 { 63 }
public var F_SETPROTECTIONCLASS: Int32 { 64 }
public var CLONE_ACL: Int32 { 4 }
public var CLONE_NOFOLLOW: Int32 { 1 }
public var COPYFILE_DATA: Int32 { 8 }
public var COPYFILE_CLONE: Int32 { 16777216 }
public var O_SEARCH: Int32 { 1074790400 }
public var O_NOFOLLOW_ANY: Int32 { 536870912 }
public var F_GETFD: Int32 { 1 }
public var F_SETFD: Int32 { 2 }
public var FD_CLOEXEC: Int32 { 1 }
public var COPYFILE_ACL: Int32 { 1 }
public var COPYFILE_STAT: Int32 { 2 }
public var COPYFILE_XATTR: Int32 { 4 }
public var XATTR_NOFOLLOW: Int32 { 1 }
public var ACL_TYPE_EXTENDED: acl_type_t { acl_type_t(0x100) }
public var SEEK_SET: Int32 { 0 }
public var SEEK_CUR: Int32 { 1 }
public var SEEK_END: Int32 { 2 }

// stat(2).
public var S_IFMT: mode_t { 61440 }
public var S_IFREG: mode_t { 32768 }
public var S_IFDIR: mode_t { 16384 }
public var S_IFLNK: mode_t { 40960 }
public var S_IFIFO: mode_t { 4096 }
public var S_IFSOCK: mode_t { 49152 }
public var S_IFCHR: mode_t { 8192 }
public var S_IFBLK: mode_t { 24576 }

// sysconf(3), getrlimit(2), getrusage(2), pthread_attr(3).
public var _SC_PHYS_PAGES: Int32 { 200 }
public var _SC_PAGESIZE: Int32 { 29 }
public var _SC_NPROCESSORS_ONLN: Int32 { 58 }
public var _SC_OPEN_MAX: Int32 { 5 }
public var RUSAGE_SELF: Int32 { 0 }
public var RLIMIT_NOFILE: Int32 { 8 }
public var RLIMIT_AS: Int32 { 5 }
public var PTHREAD_CREATE_DETACHED: Int32 { 2 }

// socket(2).
public var SOCK_STREAM: Int32 { 1 }

// getitimer(2), wait(2).
public var ITIMER_PROF: Int32 { 2 }
public var WNOHANG: Int32 { 1 }

// the standard streams.
public var STDIN_FILENO: Int32 { 0 }
public var STDOUT_FILENO: Int32 { 1 }
public var STDERR_FILENO: Int32 { 2 }

// signal(3).
public var SIG_BLOCK: Int32 { 1 }
public var SIG_UNBLOCK: Int32 { 2 }
public var SIGINT: Int32 { 2 }
public var SIGTERM: Int32 { 15 }
public var SIGPIPE: Int32 { 13 }
public var SIGKILL: Int32 { 9 }
public var SIGHUP: Int32 { 1 }
public var SIGALRM: Int32 { 14 }
public var SIGPROF: Int32 { 27 }
public var SIGSTOP: Int32 { 17 }
public var SIGCONT: Int32 { 19 }
public var SIGXFSZ: Int32 { 25 }
public var SIGWINCH: Int32 { 28 }

// intro(2): errors.
public var EPERM: Int32 { 1 }
public var ENOENT: Int32 { 2 }
public var EINTR: Int32 { 4 }
public var EIO: Int32 { 5 }
public var EBADF: Int32 { 9 }
public var ENOMEM: Int32 { 12 }
public var EACCES: Int32 { 13 }
public var EEXIST: Int32 { 17 }
public var EXDEV: Int32 { 18 }
public var ENOTDIR: Int32 { 20 }
public var EISDIR: Int32 { 21 }
public var EINVAL: Int32 { 22 }
public var EMFILE: Int32 { 24 }
public var ENFILE: Int32 { 23 }
public var ENOTTY: Int32 { 25 }
public var EFBIG: Int32 { 27 }
public var ENOSPC: Int32 { 28 }
public var EROFS: Int32 { 30 }
public var EMLINK: Int32 { 31 }
public var EPIPE: Int32 { 32 }
public var EAGAIN: Int32 { 35 }
public var EWOULDBLOCK: Int32 { 35 }
public var ENOTSUP: Int32 { 45 }
public var ENOATTR: Int32 { 93 }
public var EOPNOTSUPP: Int32 { 102 }
public var ELOOP: Int32 { 62 }
public var ENAMETOOLONG: Int32 { 63 }
public var ENOTEMPTY: Int32 { 66 }
public var EDQUOT: Int32 { 69 }
public var ESTALE: Int32 { 70 }
public var ENOSYS: Int32 { 78 }
public var ENOLCK: Int32 { 77 }
public var EBUSY: Int32 { 16 }
public var ETXTBSY: Int32 { 26 }
public var ENODEV: Int32 { 19 }
public var ENXIO: Int32 { 6 }
public var ENODATA: Int32 { 96 }
public var EOVERFLOW: Int32 { 84 }
public var ERANGE: Int32 { 34 }
public var ECANCELED: Int32 { 89 }
public var ECHILD: Int32 { 10 }
public var ETIMEDOUT: Int32 { 60 }
public var EDEADLK: Int32 { 11 }
