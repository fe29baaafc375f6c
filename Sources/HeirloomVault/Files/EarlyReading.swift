import Dispatch
import HeirloomStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Brings a file into the page cache, on another thread; a failure shows again where the file is
/// needed.
///
/// A clone of a store that was just read is read from the disk again, since files that share blocks
/// don't share memory. A proof reads it page by page, which takes several times as long. Stop it
/// before the file is locked: closing the file drops all of the process's POSIX locks on it.
package final class EarlyReading: Sendable {
  private let group = DispatchGroup()
  private let state = Locked(State())

  private struct State {
    var hasBegun = false
    var isStopped = false
  }

  private static let stride = 1 << 18

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

  /// Waits until the file is closed.
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

  private static var memoryBytes: Int64 {
    let bytes = Int64(sysconf(Int32(_SC_PHYS_PAGES))).multipliedReportingOverflow(
      by: Int64(sysconf(Int32(_SC_PAGESIZE))))
    return bytes.overflow ? .max : max(0, bytes.partialValue)
  }
}
