import HeirloomStore

/// Counts calls from any thread.
final class Counter: Sendable {
  private let state = Locked(0)

  var value: Int { state.withLock { $0 } }

  @discardableResult
  func next() -> Int {
    state.withLock { number in
      number += 1
      return number
    }
  }
}
