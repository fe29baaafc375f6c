/// The stage that a reader reached with an input.
package enum FuzzStage: Int, CaseIterable, Codable, Sendable {
  /// It stopped at the container of the content: gzip, a property list's trailer, an XML prolog, a database's header.
  case container
  /// It stopped at the form of the content: JSON, objects of a property list, elements, tokens, a table of metadata.
  case form
  /// It understood the form and refused the content.
  case content
  case accepted
}

/// Something that a reader did with an input and must never do.
package struct FuzzFinding: Error, CustomStringConvertible, Sendable {
  package let description: String

  package init(_ description: String) { self.description = description }
}
