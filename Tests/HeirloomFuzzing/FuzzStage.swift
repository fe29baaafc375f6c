/// How far a reader came with an input.
package enum FuzzStage: Int, CaseIterable, Codable, Sendable {
  /// It stopped at what the content is wrapped in: gzip, a property list's trailer, an XML prolog, a database's header.
  case container
  /// It stopped at the form of the content: JSON, objects of a property list, elements, tokens, a table of metadata.
  case form
  /// It understood the form and refused what it says.
  case content
  /// It took the input.
  case accepted
}

/// What a reader did with an input and must never do.
package struct FuzzFinding: Error, CustomStringConvertible, Sendable {
  /// What happened.
  package let description: String

  /// Creates a finding.
  package init(_ description: String) { self.description = description }
}
