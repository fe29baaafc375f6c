import Dispatch
import HeirloomStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Reads a file on another thread, so that who reads it page by page later finds it in memory.
///
/// Files that share blocks don't share memory: a clone of a store that was just read is read from the disk again, and a proof that asks
/// for a page at a time takes several times as long as the reading itself. What can't be read here fails where it is needed.
///
/// Stop it before anybody locks the file: it is closed at the end, and with that go all of the process's POSIX locks on it.
package final class EarlyReading: Sendable {
  private let group = DispatchGroup()
  private let state = Mutex(State())

  private struct State {
    var hasBegun = false
    var isStopped = false
  }

  /// The bytes of one read.
  private static let stride = 1 << 18

  /// Begins.
  package init(of path: String) {
    group.enter()
    let isStarted = WorkerThread.start(stackSize: 1 << 19) { [self] in
      let begins = state.withLock { state in
        state.hasBegun = !state.isStopped
        return state.hasBegun
      }
      if begins { read(path) }
      group.leave()
    }
    // Without a thread nothing is read early.
    if !isStarted { group.leave() }
  }

  /// Ends the reading wherever it is; the file is closed then.
  package func stop() {
    let hasBegun = state.withLock { state in
      state.isStopped = true
      return state.hasBegun
    }
    // One that still waits for a thread never opens the file.
    if hasBegun { group.wait() }
  }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  private func read(_ path: String) {
    guard let file = try? FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read),
      let status = try? file.status(for: .read), status.kind == .regular
    else { return }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.stride, alignment: 4096)
    defer { buffer.deallocate() }
    // More would push out what it has read, or what others need.
    let end = min(status.size, Self.memoryBytes / 4)
    var offset: Int64 = 0
    while offset < end, !isStopped,
      let count = try? file.read(into: buffer, at: offset, for: .read), count > 0
    {
      offset += Int64(count)
    }
  }

  /// The machine's memory, in bytes.
  private static var memoryBytes: Int64 {
    let bytes = Int64(sysconf(Int32(_SC_PHYS_PAGES))).multipliedReportingOverflow(
      by: Int64(sysconf(Int32(_SC_PAGESIZE))))
    return bytes.overflow ? .max : max(0, bytes.partialValue)
  }
}
