#if canImport(Darwin)
  import Foundation

  /// Runs work of an app, and frees what Objective-C's objects in it left to the thread's pool.
  ///
  /// A migration runs an app's code for each row, on a thread that may have no pool: without one of its own, what
  /// Foundation makes for a row would stay until the last.
  package func withAutoreleasePool<Result>(_ work: () throws -> Result) rethrows -> Result {
    try autoreleasepool(invoking: work)
  }
#else
  /// Runs work of an app: on this platform nothing is left to pools.
  @inlinable
  package func withAutoreleasePool<Result>(_ work: () throws -> Result) rethrows -> Result {
    try work()
  }
#endif
