/// An element of an XML document with all it holds.
package struct MarkupElement: Hashable, Sendable {
  /// The element's name, with its prefix if it has one.
  package var name: String
  /// The attributes by name.
  package var attributes: [String: String]
  /// The elements inside, in document order.
  package var children: [MarkupElement] = []
  /// The text inside, without that of `children`.
  package var text: String = ""
  /// The line in which the start tag ends, from 1; 0 if it is not known.
  package var line: Int

  /// Creates an element that holds nothing.
  package init(name: String, attributes: [String: String] = [:], line: Int = 0) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  /// The value of an attribute, or `nil`.
  package subscript(_ attribute: String) -> String? {
    attributes[attribute]
  }

  /// Returns the elements of the given name directly inside.
  package func children(named name: String) -> [MarkupElement] {
    children.filter { $0.name == name }
  }
}
