/// A piece of XML or HTML; text is escaped when it is written.
package indirect enum Markup {
  case text(String)
  case element(String, [(name: String, value: String)], [Markup])
  /// The trusted content of a `style` element, which is written unescaped.
  case style(String)
  case group([Markup])

  package static func tag(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ children: Markup...)
    -> Markup
  {
    .element(name, attributes.map { (name: $0.key, value: $0.value) }, children)
  }

  package static func tag(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], all: [Markup]) -> Markup {
    .element(name, attributes.map { (name: $0.key, value: $0.value) }, all)
  }

  package static func tag(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text: String) -> Markup {
    .tag(name, attributes, .text(text))
  }

  package var string: String {
    var result = ""
    write(to: &result)
    return result
  }

  private func write(to result: inout String) {
    switch self {
    case .text(let text): result += Self.escaped(text)
    case .group(let pieces): for piece in pieces { piece.write(to: &result) }
    case .style(let rules): result += "<style>\n\(rules)</style>\n"
    case .element(let name, let attributes, let children):
      result += "<\(name)"
      for attribute in attributes { result += " \(attribute.name)=\"\(Self.escaped(attribute.value))\"" }
      if children.isEmpty, Self.emptyElements.contains(name) {
        result += "/>"
      } else {
        result += ">"
        for child in children { child.write(to: &result) }
        result += "</\(name)>"
      }
      if Self.lineElements.contains(name) { result += "\n" }
    }
  }

  /// Also makes harmless what XML doesn't allow and what changes the writing direction.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in TerminalText.harmless(text).unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The elements that may be empty in HTML or SVG; HTML requires end tags for all others.
  private static let emptyElements: Set<String> = [
    "meta", "br", "hr", "col", "path", "rect", "circle", "line", "BR",
  ]

  /// A line break follows them, which makes versions of a file comparable.
  private static let lineElements: Set<String> = [
    "svg", "g", "path", "rect", "text", "title", "desc", "style", "meta", "head", "body", "main", "header", "footer",
    "section", "h1", "h2", "h3", "p", "ul", "ol", "li", "table", "caption", "thead", "tbody", "tr", "dl", "dt", "dd",
    "div", "figure", "figcaption", "html", "TR", "TABLE",
  ]
}
