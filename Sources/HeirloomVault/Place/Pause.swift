import Foundation

enum Pause {
  static func short() {
    Thread.sleep(forTimeInterval: 0.01)
  }
}
