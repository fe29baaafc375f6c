/// The names that were passed over: by a copy of a folder, or by a copy of a file's attributes.
package struct PassedOver: Equatable, Sendable {
  /// The number of names.
  package private(set) var count = 0
  /// The first name; `nil` if there is none.
  package private(set) var first: String?

  /// Creates an empty count.
  package init() {}

  /// Counts one more name.
  package mutating func note(_ name: String) {
    count += 1
    if first == nil { first = name }
  }
}
