import Foundation
import HeirloomStore

/// Runs a body on a thread with a small stack: 512 KiB, the least on our platforms, or more in a debug build.
///
/// - Parameters:
///   - debugByteCount: The size in a debug build, whose frames are larger.
///   - body: The work; without a limit of its own, what it nests ends the process.
/// - Returns: The body's result.
package func onSmallStack<Value: Sendable>(
  debugByteCount: Int = 3 << 20, _ body: @escaping @Sendable () -> Value
) -> Value? {
  let box = ResultBox<Value>()
  let thread = Thread {
    let value = body()
    box.value.withLock { $0 = value }
    box.done.signal()
  }
  #if DEBUG
    thread.stackSize = debugByteCount
  #else
    thread.stackSize = 512 << 10
  #endif
  thread.start()
  box.done.wait()
  return box.value.withLock { $0 }
}

/// A box that carries a value from a thread to the one that waits for it.
private final class ResultBox<Value: Sendable>: Sendable {
  let value = Locked<Value?>(nil)
  let done = DispatchSemaphore(value: 0)
}
