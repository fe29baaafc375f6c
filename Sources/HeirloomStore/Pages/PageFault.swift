/// Something in a database's pages that is not as it must be, in a sentence without a subject's name.
package struct PageFault: Error, CustomStringConvertible {
  package let description: String

  /// Creates a fault.
  package init(_ description: String) {
    self.description = description
  }
}
