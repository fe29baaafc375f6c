import Foundation
import HeirloomStore

/// A standard stream of this process that remembers write errors.
final class StandardStream: Sendable {
  private let descriptor: Int32
  private let state = Locked<(hasWritten: Bool, failure: Int32?)>((false, nil))

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Text that can't be written is dropped and reported by ``failure``: a pipe closed by its
  /// reader, such as `head`, must not end a migration.
  func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    let failure = state.withLock { state in
      state.hasWritten = true
      return state.failure
    }
    guard failure == nil else { return }
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let code = count < 0 ? errno : EIO
        state.withLock { $0.failure = code }
        return
      }
      bytes = bytes.dropFirst(count)
    }
  }

  var failure: Int32? {
    let (hasWritten, failure) = state.withLock { $0 }
    guard hasWritten, failure == nil else { return failure }
    // Some file systems report a write error only on close.
    let copy = dup(descriptor)
    guard copy >= 0, close(copy) != 0, errno != EINTR else { return nil }
    return errno
  }
}
