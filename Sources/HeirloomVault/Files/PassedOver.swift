/// The names skipped while copying a folder, or the attributes skipped while copying a file.
package struct PassedOver: Equatable, Sendable {
  package private(set) var count = 0
  package private(set) var first: String?

  package init() {}

  package mutating func note(_ name: String) {
    count += 1
    if first == nil { first = name }
  }
}
