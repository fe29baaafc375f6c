// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The meaning of `import Foundation` in the checked copy: Foundation with Apple's C library in front of Linux's.
@_exported import Darwin

/// Objective-C's pool, which Foundation hands on. (See `autoreleasepool(invoking:)` in Apple's documentation.)
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

extension URLResourceKey {
  /// macOS 10.13, iOS 11.
  public static var volumeAvailableCapacityForImportantUsageKey: URLResourceKey { .volumeAvailableCapacityKey }
}

/// iOS 9, macOS 11.
public struct URLFileProtection: Hashable, Sendable {
  public static let complete = URLFileProtection()
  public static let completeUnlessOpen = URLFileProtection()
}

extension URLResourceKey {
  /// iOS 9, macOS 11.
  public static var fileProtectionKey: URLResourceKey { .volumeAvailableCapacityKey }
}

extension URLResourceValues {
  public var fileProtection: URLFileProtection? { nil }
  public var volumeAvailableCapacityForImportantUsage: Int64? { nil }
}
