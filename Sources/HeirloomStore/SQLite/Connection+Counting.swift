import CHeirloomSQLite
import Foundation

extension Connection {
  /// SQLite counts in one step, page by page, without calling the progress handler.
  ///
  /// The pages of a hostile file may form a cycle, so another thread interrupts a count that takes
  /// longer than a file of this size can need. `table` is SQL, with its database's name.
  package func rowCount(of table: String) throws(SQLiteError) -> Int64 {
    let sql = "SELECT COUNT(*) FROM \(table)"
    let statement = try prepare(sql)
    guard work != nil, let handle else { return try statement.step() ? statement.integer(at: 0) : 0 }
    let watch = CountWatch(handle, nanoseconds: InspectionBounds.loadingTime(byteCount: fileByteCount) / 2)
    defer { watch.stop() }
    guard CountWatches.add(watch) else {
      // There is no thread to watch. SQLite calls the progress handler when it counts row by row.
      return try firstInteger("SELECT SUM(1) FROM \(table)") ?? 0
    }
    do throws(SQLiteError) {
      return try statement.step() ? statement.integer(at: 0) : 0
    } catch {
      guard watch.hasExpired, error.code == SQLITE_INTERRUPT else { throw error }
      throw .expired("the pages of \(table) take too long to count")
    }
  }
}

/// Interrupts a connection unless the count ends in time.
private final class CountWatch: Sendable {
  private struct State {
    var address: Int?
    var hasExpired = false
  }

  private let state: Locked<State>
  private let clock: clockid_t
  private let end: Int64

  init(_ handle: OpaquePointer, nanoseconds: Int64) {
    state = Locked(State(address: Int(bitPattern: handle)))
    #if os(Linux)
      // The counting thread's own time: a busy machine or a slow disk is no reason to stop.
      var own = CLOCK_THREAD_CPUTIME_ID
      _ = pthread_getcpuclockid(pthread_self(), &own)
      (clock, end) = (own, Self.time(own) + nanoseconds)
    #else
      (clock, end) = (CLOCK_MONOTONIC, Self.time(CLOCK_MONOTONIC) + 20 * nanoseconds)
    #endif
  }

  var hasExpired: Bool { state.withLock(\.hasExpired) }

  func stop() { state.withLock { $0.address = nil } }

  /// Returns true while the count has to be checked again.
  func ask() -> Bool {
    state.withLock { state in
      // While there is an address, the thread is counting, so its clock and the database still exist.
      guard let address = state.address else { return false }
      guard Self.time(clock) > end else { return true }
      state.hasExpired = true
      sqlite3_interrupt(OpaquePointer(bitPattern: address))
      return false
    }
  }

  private static func time(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// One thread watches all counts of the process.
private enum CountWatches {
  private struct State {
    var watches: [CountWatch] = []
    var isWatched = false
  }

  private static let state = Locked(State())
  /// In microseconds.
  private static let interval: UInt32 = 100_000

  static func add(_ watch: CountWatch) -> Bool {
    state.withLock { state in
      if !state.isWatched { state.isWatched = WorkerThread.start(stackSize: 1 << 17, watchAll) }
      if state.isWatched { state.watches.append(watch) }
      return state.isWatched
    }
  }

  @Sendable private static func watchAll() {
    repeat {
      usleep(interval)
    } while state.withLock { state in
      state.watches.removeAll { !$0.ask() }
      state.isWatched = !state.watches.isEmpty
      return state.isWatched
    }
  }
}
