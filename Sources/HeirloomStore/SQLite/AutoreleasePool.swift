#if canImport(Darwin)
  import Foundation

  /// Runs app code in an autorelease pool.
  ///
  /// A migration runs app code for each row, on a thread that may have no pool. Without one, Foundation's temporary
  /// objects of a row would stay until the last row.
  package func withAutoreleasePool<Result>(_ work: () throws -> Result) rethrows -> Result {
    try autoreleasepool(invoking: work)
  }
#else
  /// Runs app code; this platform has no autorelease pools.
  @inlinable
  package func withAutoreleasePool<Result>(_ work: () throws -> Result) rethrows -> Result {
    try work()
  }
#endif
