import Foundation

/// The pause between two attempts.
enum Pause {
  /// Waits ten milliseconds.
  static func short() {
    Thread.sleep(forTimeInterval: 0.01)
  }
}
