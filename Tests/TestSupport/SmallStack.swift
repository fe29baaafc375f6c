import Foundation
import HeirloomStore

/// 512 KiB is the least on our platforms; a debug build has larger frames.
///
/// Without a limit of its own, what the body nests ends the process.
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

private final class ResultBox<Value: Sendable>: Sendable {
  let value = Locked<Value?>(nil)
  let done = DispatchSemaphore(value: 0)
}
