// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// Apple's C library, as far as the libraries use what Linux's lacks, on Linux: the calls run, and answer as Apple's do.
// Whatever isn't here is Linux's. (`Tests/AppleStub` has more, but only types.)
//
// Every way to Linux's C library leads through this module, so that what is declared here hides what Linux has by the
// same name. On Apple's systems Foundation hands on the C library: here this module hands on Foundation.
@_exported import CFakeDarwin
@_exported import Foundation
@_exported import Glibc

// MARK: Numbers

public var ENOATTR: Int32 { Int32(fake_darwin_ENOATTR) }
public var EOPNOTSUPP: Int32 { Int32(fake_darwin_EOPNOTSUPP) }

public var O_SEARCH: Int32 { Int32(fake_darwin_O_SEARCH) }
public var O_NOFOLLOW_ANY: Int32 { Int32(fake_darwin_O_NOFOLLOW_ANY) }

public var F_FULLFSYNC: Int32 { 51 }
public var F_GETPROTECTIONCLASS: Int32 { 63 }
public var F_SETPROTECTIONCLASS: Int32 { 64 }
public var F_BARRIERFSYNC: Int32 { 85 }

public var CLONE_NOFOLLOW: Int32 { 1 }
public var CLONE_ACL: Int32 { 4 }
public var COPYFILE_ACL: Int32 { 1 }
public var COPYFILE_XATTR: Int32 { 4 }
public typealias copyfile_flags_t = UInt32

public var XATTR_NOFOLLOW: Int32 { 1 }

// MARK: Calls that Linux has too

@discardableResult public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
  fake_darwin_openat(AT_FDCWD, path, flags, 0)
}

@discardableResult public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
  fake_darwin_openat(AT_FDCWD, path, flags, mode)
}

@discardableResult public func openat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
  fake_darwin_openat(folder, path, flags, 0)
}

@discardableResult public func openat(
  _ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t
) -> Int32 {
  fake_darwin_openat(folder, path, flags, mode)
}

@discardableResult public func fcntl(_ file: Int32, _ command: Int32) -> Int32 {
  fake_darwin_fcntl(file, command, 0)
}

@discardableResult public func fcntl(_ file: Int32, _ command: Int32, _ argument: Int32) -> Int32 {
  fake_darwin_fcntl(file, command, argument)
}

extension stat {
  public var st_atimespec: timespec { st_atim }
  public var st_mtimespec: timespec { st_mtim }
  public var st_ctimespec: timespec { st_ctim }
}

// MARK: Threads

public struct qos_class_t: RawRepresentable, Sendable {
  public var rawValue: UInt32

  public init(_ value: UInt32) { rawValue = value }
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Accepts the classes of `<sys/qos.h>`, and no others.
@discardableResult public func pthread_attr_set_qos_class_np(
  _ attributes: UnsafeMutablePointer<pthread_attr_t>, _ quality: qos_class_t, _ relativePriority: Int32
) -> Int32 {
  [0x21, 0x19, 0x15, 0x11, 0x09].contains(quality.rawValue) && -15...0 ~= relativePriority ? 0 : EINVAL
}

public func pthread_create(
  _ thread: UnsafeMutablePointer<pthread_t?>, _ attributes: UnsafePointer<pthread_attr_t>?,
  _ routine: @escaping @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?,
  _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  typealias Routine = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  var made = pthread_t()
  // Both are C's `void *(*)(void *)`.
  let code = Glibc.pthread_create(&made, attributes, unsafeBitCast(routine, to: Routine.self), argument)
  thread.pointee = code == 0 ? made : nil
  return code
}

// MARK: Objective-C and Foundation

public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

extension URLResourceKey {
  public static var volumeAvailableCapacityForImportantUsageKey: URLResourceKey { .volumeAvailableCapacityKey }
}

extension URLResourceValues {
  public var volumeAvailableCapacityForImportantUsage: Int64? { volumeAvailableCapacity.map(Int64.init) }
}

// MARK: Faults

/// Makes a call fail for one file; see `fake_darwin.h`.
public enum FakeDarwin {
  /// Makes the next calls fail, or all if no number is given.
  ///
  /// - Parameters:
  ///   - call: The call, such as `fcopyfile` or `F_FULLFSYNC`.
  ///   - path: The file. A clone has the faults of its original.
  ///   - code: The error number.
  ///   - times: The number of calls that fail.
  /// - Returns: False where the file can't have attributes.
  @discardableResult
  public static func fail(_ call: String, of path: String, with code: Int32, times: Int? = nil) -> Bool {
    fake_darwin_fail(path, call, code, Int32(times ?? -1)) == 0
  }

  /// Returns how often a call was made since ``fail(_:of:with:times:)`` named it.
  public static func calls(_ call: String, of path: String) -> Int { Int(fake_darwin_calls(path, call)) }
}
