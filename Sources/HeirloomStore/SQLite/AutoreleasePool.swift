#if canImport(Darwin)
  import Foundation

  /// Without a pool, Foundation's temporary objects of a row would stay until the last row.
  package func withAutoreleasePool<Result>(_ work: () throws -> Result) rethrows -> Result {
    try autoreleasepool(invoking: work)
  }
#else
  @inlinable
  package func withAutoreleasePool<Result>(_ work: () throws -> Result) rethrows -> Result {
    try work()
  }
#endif
