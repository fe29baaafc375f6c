import Foundation
import TestSupport
import Testing

/// The built tool on a terminal whose other end the test holds, or on a pipe.
final class PseudoTerminal {
  private let process = Process()
  private let reading: Int32
  private let writing: Int32
  /// So far, on both streams.
  var text: String { String(decoding: bytes, as: UTF8.self) }
  private var bytes: [UInt8] = []

  /// `columns` is `nil` for a pipe instead of a terminal; the variables are set besides the tests'
  /// own.
  init(_ arguments: [String], columns: Int?, environment: [String: String] = [:]) throws {
    if let columns {
      #if canImport(Darwin)
        reading = posix_openpt(O_RDWR | O_NOCTTY)
        try #require(reading >= 0 && grantpt(reading) == 0 && unlockpt(reading) == 0)
        writing = open(String(cString: try #require(ptsname(reading))), O_RDWR | O_NOCTTY)
      #else
        // Swift doesn't see the functions of these names on Linux; this is what they do: pts(4), ioctl_tty(2).
        reading = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (locked, number): (Int32, Int32) = (0, 0)
        try #require(ioctl(reading, 0x4004_5431, &locked) == 0 && ioctl(reading, 0x8004_5430, &number) == 0)
        writing = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
      #endif
      try #require(writing >= 0)
      #if canImport(Darwin)
        let request: UInt = 0x8008_7467
      #else
        let request = UInt(TIOCSWINSZ)
      #endif
      var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
      try #require(ioctl(writing, request, &size) == 0)
    } else {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      (reading, writing) = (ends[0], ends[1])
    }
    try #require(fcntl(reading, F_SETFL, O_NONBLOCK) == 0)
    process.executableURL = BuiltTool.url
    process.arguments = arguments
    var all = ProcessInfo.processInfo.environment
    // The surroundings of the tests must not affect what they try.
    all["NO_COLOR"] = nil
    all["TERM"] = "xterm"
    process.environment = all.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(fileDescriptor: writing, closeOnDealloc: false)
    process.standardError = FileHandle(fileDescriptor: writing, closeOnDealloc: false)
    try process.run()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    close(reading)
    close(writing)
  }

  func wait(for expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let end = ContinuousClock.now + .seconds(20)
    while !text.contains(expected), ContinuousClock.now < end {
      take()
      Thread.sleep(forTimeInterval: 0.005)
    }
    #expect(text.contains(expected), sourceLocation: sourceLocation)
  }

  /// Waits until the tool listens to signals, if it writes nothing that shows it.
  func waitForListener() {
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end {
      let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
      // These are the signals that only one thread waits for, as a number in which SIGINT is the second bit.
      let line = status?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
      let mask = line?.split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0, radix: 16) }
      if let mask, mask & 2 != 0 { break }
      Thread.sleep(forTimeInterval: status == nil ? 1 : 0.005)
    }
    Thread.sleep(forTimeInterval: 0.3)
  }

  func stop() {
    kill(process.processIdentifier, SIGINT)
  }

  /// The exit code; `nil` if a signal or the test had to end the tool.
  func end() -> Int32? {
    let end = ContinuousClock.now + .seconds(20)
    while process.isRunning, ContinuousClock.now < end {
      take()
      Thread.sleep(forTimeInterval: 0.005)
    }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    take()
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }

  private func take() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(reading, &buffer, buffer.count)
      guard count > 0 else { return }
      bytes += buffer[..<count]
    }
  }
}

/// The lock of a store, held by the test, so that the tool waits for it.
final class HeldLock {
  private let number: Int32

  init(ofStoreAt store: URL) throws {
    let folder = store.path + ".heirloom"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    number = open(folder + "/lock", O_RDWR | O_CREAT, mode_t(0o644))
    try #require(number >= 0 && flock(number, LOCK_EX | LOCK_NB) == 0)
  }

  deinit {
    release()
  }

  func release() {
    flock(number, LOCK_UN)
  }
}
