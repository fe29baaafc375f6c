import Foundation

/// One thread at a time reads or changes the value, so it is sendable.
///
/// `Synchronization.Mutex` needs iOS 18, and confuses the thread sanitizer once a thread has
/// waited.
package final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
  }

  package func withLock<Result>(_ body: (inout sending Value) throws -> sending Result) rethrows -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
