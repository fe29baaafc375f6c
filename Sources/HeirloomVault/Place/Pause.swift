import Foundation

/// The pause between two attempts.
enum Pause {
  static func short() {
    Thread.sleep(forTimeInterval: 0.01)
  }
}
