// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverUseImplicitlyUnwrappedOptionals
// The functions of Apple's C library as Swift imports them, from the public manual pages of sections 2 and 3: types
// only, nothing runs.
//
// Every way to Linux's C library leads through this module, so that what is declared here hides what Linux has by the
// same name. What is not declared here stays Linux's, and must be in `assumed-names`.
@_exported import DarwinTypes

@discardableResult public func stat(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
@discardableResult public func lstat(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
@discardableResult public func fstat(_: Int32, _: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
@discardableResult public func statvfs(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<statvfs>!) -> Int32 {
  fatalError()
}
@discardableResult public func statfs(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<statfs>!) -> Int32 {
  fatalError()
}
@discardableResult public func darwin_opendir(_: UnsafePointer<CChar>!) -> UnsafeMutablePointer<DIR>! { fatalError() }
@discardableResult public func readdir(_: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! { fatalError() }
@discardableResult public func closedir(_: UnsafeMutablePointer<DIR>!) -> Int32 { fatalError() }
@discardableResult public func flock(_: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func getrusage(_: Int32, _: UnsafeMutablePointer<rusage>!) -> Int32 { fatalError() }
@discardableResult public func clock_gettime(_: clockid_t, _: UnsafeMutablePointer<timespec>!) -> Int32 { fatalError() }
@discardableResult public func nanosleep(_: UnsafePointer<timespec>!, _: UnsafeMutablePointer<timespec>!) -> Int32 {
  fatalError()
}
@discardableResult public func open(_: UnsafePointer<CChar>, _: Int32) -> Int32 { fatalError() }
@discardableResult public func open(_: UnsafePointer<CChar>, _: Int32, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func openat(_: Int32, _: UnsafePointer<CChar>, _: Int32) -> Int32 { fatalError() }
@discardableResult public func fcntl(_: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func fcntl(_: Int32, _: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func fcntl(_: Int32, _: Int32, _: UnsafeMutableRawPointer) -> Int32 { fatalError() }
@discardableResult public func ioctl(_: Int32, _: UInt, _: Int32) -> Int32 { fatalError() }
@discardableResult public func ioctl(_: Int32, _: UInt, _: UnsafeMutableRawPointer) -> Int32 { fatalError() }
@discardableResult public func ioctl(_: Int32, _: UInt) -> Int32 { fatalError() }
@discardableResult public func close(_: Int32) -> Int32 { fatalError() }
@discardableResult public func read(_: Int32, _: UnsafeMutableRawPointer!, _: Int) -> Int { fatalError() }
@discardableResult public func write(_: Int32, _: UnsafeRawPointer!, _: Int) -> Int { fatalError() }
@discardableResult public func pread(_: Int32, _: UnsafeMutableRawPointer!, _: Int, _: off_t) -> Int { fatalError() }
@discardableResult public func pwrite(_: Int32, _: UnsafeRawPointer!, _: Int, _: off_t) -> Int { fatalError() }
@discardableResult public func fsync(_: Int32) -> Int32 { fatalError() }
@discardableResult public func renameat(_: Int32, _: UnsafePointer<CChar>!, _: Int32, _: UnsafePointer<CChar>!) -> Int32
{ fatalError() }
@discardableResult public func darwin_mkdir(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func fchmod(_: Int32, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func fchmodat(_: Int32, _: UnsafePointer<CChar>!, _: mode_t, _: Int32) -> Int32 {
  fatalError()
}
@discardableResult public func darwin_chmod(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func fchown(_: Int32, _: uid_t, _: gid_t) -> Int32 { fatalError() }
@discardableResult public func access(_: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func realpath(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<CChar>!)
  -> UnsafeMutablePointer<CChar>!
{ fatalError() }
@discardableResult public func sysconf(_: Int32) -> Int { fatalError() }
@discardableResult public func isatty(_: Int32) -> Int32 { fatalError() }
@discardableResult public func getpid() -> pid_t { fatalError() }
@discardableResult public func geteuid() -> uid_t { fatalError() }
@discardableResult public func getenv(_: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult public func fclonefileat(_: Int32, _: Int32, _: UnsafePointer<CChar>!, _: UInt32) -> Int32 {
  fatalError()
}
@discardableResult public func copyfile(
  _: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!, _: copyfile_state_t!, _: copyfile_flags_t
) -> Int32 { fatalError() }
@discardableResult public func fcopyfile(_: Int32, _: Int32, _: copyfile_state_t!, _: copyfile_flags_t) -> Int32 {
  fatalError()
}
// getxattr(2), setxattr(2), listxattr(2), removexattr(2).
@discardableResult public func fgetxattr(
  _: Int32, _: UnsafePointer<CChar>!, _: UnsafeMutableRawPointer!, _: Int, _: UInt32, _: Int32
) -> Int { fatalError() }
@discardableResult public func fsetxattr(
  _: Int32, _: UnsafePointer<CChar>!, _: UnsafeRawPointer!, _: Int, _: UInt32, _: Int32
) -> Int32 { fatalError() }
@discardableResult public func flistxattr(_: Int32, _: UnsafeMutablePointer<CChar>!, _: Int, _: Int32) -> Int {
  fatalError()
}
@discardableResult public func fremovexattr(_: Int32, _: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func getxattr(
  _: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!, _: UnsafeMutableRawPointer!, _: Int, _: UInt32, _: Int32
) -> Int { fatalError() }
@discardableResult public func setxattr(
  _: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!, _: UnsafeRawPointer!, _: Int, _: UInt32, _: Int32
) -> Int32 { fatalError() }
@discardableResult public func listxattr(
  _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<CChar>!, _: Int, _: Int32
) -> Int { fatalError() }
// acl(3).
@discardableResult public func acl_from_text(_: UnsafePointer<CChar>!) -> acl_t! { fatalError() }
@discardableResult public func acl_to_text(_: acl_t!, _: UnsafeMutablePointer<Int>!) -> UnsafeMutablePointer<CChar>! {
  fatalError()
}
@discardableResult public func acl_get_file(_: UnsafePointer<CChar>!, _: acl_type_t) -> acl_t! { fatalError() }
@discardableResult public func acl_set_file(_: UnsafePointer<CChar>!, _: acl_type_t, _: acl_t!) -> Int32 {
  fatalError()
}
@discardableResult public func acl_free(_: UnsafeMutableRawPointer!) -> Int32 { fatalError() }
@discardableResult public func signal(_: Int32, _: sig_t!) -> sig_t! { fatalError() }
public func _exit(_: Int32) -> Never { fatalError() }
public func exit(_: Int32) -> Never { fatalError() }
@discardableResult public func kill(_: pid_t, _: Int32) -> Int32 { fatalError() }
public func free(_: UnsafeMutableRawPointer!) { fatalError() }
@discardableResult public func malloc(_: Int) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult public func memcpy(_: UnsafeMutableRawPointer!, _: UnsafeRawPointer!, _: Int)
  -> UnsafeMutableRawPointer!
{ fatalError() }
@discardableResult public func darwin_strlen(_: UnsafePointer<CChar>!) -> UInt { fatalError() }
@discardableResult public func strerror(_: Int32) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult public func sendfile(
  _: Int32, _: Int32, _: off_t, _: UnsafeMutablePointer<off_t>!, _: OpaquePointer!, _: Int32
) -> Int32 { fatalError() }
@discardableResult public func ftruncate(_: Int32, _: off_t) -> Int32 { fatalError() }
@discardableResult public func lseek(_: Int32, _: off_t, _: Int32) -> off_t { fatalError() }
@discardableResult public func rename(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func link(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func fstatat(_: Int32, _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<stat>!, _: Int32)
  -> Int32
{ fatalError() }
@discardableResult public func openat(_: Int32, _: UnsafePointer<CChar>, _: Int32, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func mkdirat(_: Int32, _: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func utimes(_: UnsafePointer<CChar>!, _: UnsafePointer<timeval>!) -> Int32 { fatalError() }
@discardableResult public func futimens(_: Int32, _: UnsafePointer<timespec>!) -> Int32 { fatalError() }
@discardableResult public func darwin_fdopendir(_: Int32) -> UnsafeMutablePointer<DIR>! { fatalError() }
@discardableResult public func getrlimit(_: Int32, _: UnsafeMutablePointer<rlimit>!) -> Int32 { fatalError() }
@discardableResult public func getcwd(_: UnsafeMutablePointer<CChar>!, _: Int) -> UnsafeMutablePointer<CChar>! {
  fatalError()
}
@discardableResult public func pthread_attr_init(_: UnsafeMutablePointer<pthread_attr_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_attr_destroy(_: UnsafeMutablePointer<pthread_attr_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_attr_setdetachstate(_: UnsafeMutablePointer<pthread_attr_t>, _: Int32) -> Int32 {
  fatalError()
}
@discardableResult public func pthread_attr_setstacksize(_: UnsafeMutablePointer<pthread_attr_t>, _: Int) -> Int32 {
  fatalError()
}
@discardableResult public func pthread_attr_set_qos_class_np(
  _: UnsafeMutablePointer<pthread_attr_t>, _: qos_class_t, _: Int32
) -> Int32 { fatalError() }
@discardableResult public func pthread_create(
  _: UnsafeMutablePointer<pthread_t?>!, _: UnsafePointer<pthread_attr_t>?,
  _: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?
) -> Int32 { fatalError() }

@discardableResult public func darwin_mkfifo(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func alarm(_: UInt32) -> UInt32 { fatalError() }
@discardableResult public func setitimer(
  _: Int32, _: UnsafePointer<itimerval>!, _: UnsafeMutablePointer<itimerval>!
) -> Int32 { fatalError() }
@discardableResult public func wait4(
  _: pid_t, _: UnsafeMutablePointer<Int32>!, _: Int32, _: UnsafeMutablePointer<rusage>!
) -> pid_t { fatalError() }
@discardableResult public func posix_openpt(_: Int32) -> Int32 { fatalError() }
@discardableResult public func grantpt(_: Int32) -> Int32 { fatalError() }
@discardableResult public func unlockpt(_: Int32) -> Int32 { fatalError() }
@discardableResult public func ptsname(_: Int32) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult public func darwin_setgroups(_: Int32, _: UnsafePointer<gid_t>!) -> Int32 { fatalError() }
@discardableResult public func posix_spawn_file_actions_init(
  _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!
) -> Int32 { fatalError() }
@discardableResult public func posix_spawn_file_actions_destroy(
  _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!
) -> Int32 { fatalError() }
@discardableResult public func posix_spawn_file_actions_addopen(
  _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _: Int32, _: UnsafePointer<CChar>!, _: Int32, _: mode_t
) -> Int32 { fatalError() }
@discardableResult public func posix_spawn_file_actions_adddup2(
  _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _: Int32, _: Int32
) -> Int32 { fatalError() }
@discardableResult public func posix_spawn(
  _: UnsafeMutablePointer<pid_t>!, _: UnsafePointer<CChar>!, _: UnsafePointer<posix_spawn_file_actions_t?>!,
  _: UnsafePointer<posix_spawnattr_t?>!, _: UnsafePointer<UnsafeMutablePointer<CChar>?>!,
  _: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { fatalError() }
@discardableResult public func darwin_fopen(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!) -> UnsafeMutablePointer<
  FILE
>! { fatalError() }
@discardableResult public func fclose(_: UnsafeMutablePointer<FILE>!) -> Int32 { fatalError() }
@discardableResult public func fgets(_: UnsafeMutablePointer<CChar>!, _: Int32, _: UnsafeMutablePointer<FILE>!)
  -> UnsafeMutablePointer<CChar>!
{ fatalError() }

@discardableResult public func usleep(_: UInt32) -> Int32 { fatalError() }
@discardableResult public func dup(_: Int32) -> Int32 { fatalError() }
@discardableResult public func faccessat(_: Int32, _: UnsafePointer<CChar>, _: Int32, _: Int32) -> Int32 {
  fatalError()
}
@discardableResult public func sigemptyset(_: UnsafeMutablePointer<sigset_t>!) -> Int32 { fatalError() }
@discardableResult public func sigaddset(_: UnsafeMutablePointer<sigset_t>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func sigwait(_: UnsafePointer<sigset_t>, _: UnsafeMutablePointer<Int32>) -> Int32 {
  fatalError()
}
@discardableResult public func pthread_sigmask(
  _: Int32, _: UnsafePointer<sigset_t>!, _: UnsafeMutablePointer<sigset_t>!
) -> Int32 { fatalError() }

public var errno: Int32 {
  get { 0 }
  set {}
}
public var SIG_IGN: sig_t! { fatalError() }
public var SIG_DFL: sig_t? { nil }
public var CLOCK_REALTIME: clockid_t { clockid_t(0) }
public var CLOCK_MONOTONIC: clockid_t { clockid_t(6) }
public var CLOCK_PROCESS_CPUTIME_ID: clockid_t { clockid_t(12) }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { clockid_t(16) }
