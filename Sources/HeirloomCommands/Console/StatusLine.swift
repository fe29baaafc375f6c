import HeirloomStore

/// The last line of a terminal, which shows the work under way and makes room for lasting lines.
package final class StatusLine: Sendable {
  private let write: @Sendable (String) -> Void
  private let isShown = Locked(false)

  /// Creates an empty line.
  ///
  /// - Parameter write: Writes to standard error.
  package init(write: @escaping @Sendable (String) -> Void) {
    self.write = write
  }

  /// Shows a text in place of the present one; an empty one removes it.
  package func show(_ text: String) {
    isShown.withLock { isShown in
      guard isShown || !text.isEmpty else { return }
      write("\r\u{1B}[K" + text)
      isShown = !text.isEmpty
    }
  }

  /// Writes a line that stays.
  package func writeLine(_ line: String) {
    isShown.withLock { isShown in
      write((isShown ? "\r\u{1B}[K" : "") + line + "\n")
      isShown = false
    }
  }
}
