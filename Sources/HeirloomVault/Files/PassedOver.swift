/// The names skipped while copying a folder, or the attributes skipped while copying a file.
package struct PassedOver: Equatable, Sendable {
  /// The number of skipped names.
  package private(set) var count = 0
  /// The first skipped name; `nil` if there is none.
  package private(set) var first: String?

  /// Creates an empty count.
  package init() {}

  /// Counts one more name.
  package mutating func note(_ name: String) {
    count += 1
    if first == nil { first = name }
  }
}
