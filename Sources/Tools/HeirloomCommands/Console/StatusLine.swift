import HeirloomStore

/// The last line of a terminal, which shows the progress and gives way to permanent lines.
package final class StatusLine: Sendable {
  private let write: @Sendable (String) -> Void
  private let isShown = Locked(false)

  package init(write: @escaping @Sendable (String) -> Void) {
    self.write = write
  }

  /// An empty text removes the line.
  package func show(_ text: String) {
    isShown.withLock { isShown in
      guard isShown || !text.isEmpty else { return }
      write("\r\u{1B}[K" + text)
      isShown = !text.isEmpty
    }
  }

  /// In place of the status line, which the next update shows again.
  package func writeLine(_ line: String) {
    isShown.withLock { isShown in
      write((isShown ? "\r\u{1B}[K" : "") + line + "\n")
      isShown = false
    }
  }
}
