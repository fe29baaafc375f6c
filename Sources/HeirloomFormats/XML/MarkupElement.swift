/// An element of an XML document with its content.
package struct MarkupElement: Hashable, Sendable {
  /// The element's name, with its prefix if it has one.
  package var name: String
  /// The attributes by name.
  package var attributes: [String: String]
  /// The child elements, in document order.
  package var children: [MarkupElement] = []
  /// The text, without that of `children`.
  package var text: String = ""
  /// The line at the end of the start tag, from 1; 0 if it is not known.
  package var line: Int

  /// Creates an empty element.
  package init(name: String, attributes: [String: String] = [:], line: Int = 0) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  /// The value of an attribute; `nil` if there is none.
  package subscript(_ attribute: String) -> String? {
    attributes[attribute]
  }

  /// Returns the child elements with the given name.
  package func children(named name: String) -> [MarkupElement] {
    children.filter { $0.name == name }
  }
}
