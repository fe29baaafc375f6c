package struct MarkupElement: Hashable, Sendable {
  /// With its prefix if it has one.
  package var name: String
  package var attributes: [String: String]
  package var children: [MarkupElement] = []
  /// Without that of `children`.
  package var text: String = ""
  /// At the end of the start tag, from 1; 0 if it is not known.
  package var line: Int

  package init(name: String, attributes: [String: String] = [:], line: Int = 0) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  package subscript(_ attribute: String) -> String? {
    attributes[attribute]
  }

  package func children(named name: String) -> [MarkupElement] {
    children.filter { $0.name == name }
  }
}
