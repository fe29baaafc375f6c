import HeirloomModel

/// A failure to parse an XML document; lines count from 1.
package enum MarkupError: Error, Hashable, Sendable {
  /// An empty input.
  case empty
  /// Input that exceeds a reader's limit.
  case tooLarge(byteCount: Int, limit: Int)
  /// Input that is not UTF-8, or declares another encoding.
  case unsupportedEncoding
  /// Processing instructions, or declarations of entities or elements, which no file of Xcode contains.
  case unsupportedMarkup(line: Int)
  /// A Git merge conflict marker.
  case conflict(mark: String, line: Int)
  /// A document that is not well-formed.
  case malformed(reason: String, line: Int)
  /// A document that ends before an element is closed; the line is that of its start tag.
  case unclosed(element: String, line: Int)
  /// A document without an element.
  case noElement
  /// Elements that are nested too deeply.
  case tooDeep(limit: Int, line: Int)
  /// Too many elements.
  case tooManyElements(limit: Int, line: Int)
  /// An element with too many attributes.
  case tooManyAttributes(limit: Int, line: Int)
}

extension MarkupError: CustomStringConvertible {
  /// The line and the reason.
  package var description: String { PlainText.line((line.map { "Line \($0): " } ?? "") + reason) }

  /// The line of the problem; `nil` if it concerns the whole document.
  package var line: Int? {
    switch self {
    case .empty, .tooLarge, .unsupportedEncoding, .noElement: nil
    case .unsupportedMarkup(let line), .conflict(_, let line), .malformed(_, let line), .unclosed(_, let line),
      .tooDeep(_, let line), .tooManyElements(_, let line), .tooManyAttributes(_, let line):
      line
    }
  }

  /// One sentence with the problem and what was expected, without the line.
  package var reason: String {
    switch self {
    case .empty:
      "The document is empty."
    case .tooLarge(let byteCount, let limit):
      "The document has \(byteCount) bytes; at most \(limit) are accepted."
    case .unsupportedEncoding:
      "The document is not in UTF-8, the only accepted encoding."
    case .unsupportedMarkup:
      "A processing instruction or a declaration of entities is not accepted."
    case .conflict(let mark, _):
      "The line begins with \(mark), a Git merge conflict marker: two branches changed the same lines. Resolve the"
        + " conflict, and delete the lines with <<<<<<<, ======= and >>>>>>>."
    case .malformed(let reason, _):
      "The document is not well-formed XML: \(reason)."
    case .unclosed(let element, _):
      "The document ends before the element <\(element.prefix(80))> is closed; it is truncated."
    case .noElement:
      "The document has no element; an XML document was expected."
    case .tooDeep(let limit, _):
      "The elements are nested more than \(limit) levels deep."
    case .tooManyElements(let limit, _):
      "The document has more than \(limit) elements."
    case .tooManyAttributes(let limit, _):
      "The element has more than \(limit) attributes."
    }
  }
}
