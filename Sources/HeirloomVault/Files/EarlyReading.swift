import Dispatch
import HeirloomStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Reads a file ahead of its users, on another thread, to bring it into the page cache.
///
/// Files that share blocks don't share memory, so a clone of a store that was just read is read from the disk again.
/// A proof reads one page at a time, which takes several times as long as reading the file in one go.
/// A failure here is ignored: it shows again where the file is needed.
///
/// Stop it before the file is locked: closing the file at the end drops all of the process's POSIX locks on it.
package final class EarlyReading: Sendable {
  private let group = DispatchGroup()
  private let state = Locked(State())

  private struct State {
    var hasBegun = false
    var isStopped = false
  }

  /// The size of one read, in bytes.
  private static let stride = 1 << 18

  /// Starts the reading.
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
    if !isStarted { group.leave() }
  }

  /// Stops the reading and waits until the file is closed.
  package func stop() {
    let hasBegun = state.withLock { state in
      state.isStopped = true
      return state.hasBegun
    }
    // A thread that starts after this call doesn't open the file.
    if hasBegun { group.wait() }
  }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  private func read(_ path: String) {
    guard let file = try? FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read),
      let status = try? file.status(for: .read), status.kind == .regular
    else { return }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.stride, alignment: 4096)
    defer { buffer.deallocate() }
    // Reading more would push out pages that were just read, or that other processes need.
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
