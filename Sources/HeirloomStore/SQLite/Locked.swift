import Foundation

/// A value that one thread at a time reads or changes.
///
/// `Synchronization.Mutex` needs iOS 18, and the thread sanitizer doesn't see it once a thread has waited for it.
package final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  /// Creates a lock around a value.
  package init(_ value: sending Value) {
    self.value = value
  }

  /// Calls a closure with exclusive access to the value.
  package func withLock<Result>(_ body: (inout sending Value) throws -> sending Result) rethrows -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
