/// A violation of the format in a database's pages; the description is a sentence without its subject.
package struct PageFault: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
