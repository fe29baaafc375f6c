import HeirloomStore

/// A number that counts calls from any thread.
final class Counter: Sendable {
  private let state = Locked(0)

  /// The number of calls so far.
  var value: Int { state.withLock { $0 } }

  /// Counts a call.
  @discardableResult
  func next() -> Int {
    state.withLock { number in
      number += 1
      return number
    }
  }
}
