import Foundation

/// Two equal states mean that the store wasn't written to in between.
///
/// That holds if, before the first, the files were at rest for longer than the resolution of the
/// file system's times: a later write then has a later time than those recorded.
package struct StoreState: Equatable, Sendable {
  private let main: FileStamp
  /// Only with the time of its last change of content: SQLite may set its owner on opening it.
  private let log: FileStamp?

  /// `nil` if one of the files was not at rest for `rest` seconds, or if there is no store.
  package init?(of path: String, atRestFor rest: Double) {
    guard let file = DatabaseFile.resolved(path) else { return nil }
    var clock = timespec()
    guard clock_gettime(CLOCK_REALTIME, &clock) == 0, let main = FileStamp(file) else { return nil }
    let log = FileStamp(file + "-wal", withStatusTime: false).flatMap { $0.size > 0 ? $0 : nil }
    let now = Self.seconds(Int64(clock.tv_sec), Int64(clock.tv_nsec))
    for file in [main, log].compactMap({ $0 }) {
      for index in stride(from: 0, to: file.times.count, by: 2)
      where now - Self.seconds(file.times[index], file.times[index + 1]) < rest { return nil }
    }
    (self.main, self.log) = (main, log)
  }

  package func isStill(at path: String) -> Bool { Self(of: path, atRestFor: -.infinity) == self }

  private static func seconds(_ seconds: Int64, _ nanoseconds: Int64) -> Double {
    Double(seconds) + Double(nanoseconds) / 1e9
  }
}
