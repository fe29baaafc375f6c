import HeirloomModel

/// Bytes that are not an XML document, or not one that is accepted.
package enum MarkupError: Error, Hashable, Sendable {
  /// An empty input.
  case empty
  /// Input that is longer than a reader accepts.
  case tooLarge(byteCount: Int, limit: Int)
  /// Input that is not UTF-8, or says that it isn't.
  case unsupportedEncoding
  /// Processing instructions, or declarations of entities or elements, which no file of Xcode's has.
  case unsupportedMarkup(offset: Int)
  /// A document that is not well-formed; lines count from 1.
  case malformed(reason: String, line: Int)
  /// A document that ends before this element is closed.
  case unclosed(element: String, line: Int)
  /// A document without an element.
  case noElement
  /// Elements that are nested too deeply.
  case tooDeep(limit: Int, line: Int)
  /// Too many elements.
  case tooManyElements(limit: Int, line: Int)
  /// An element with too many attributes.
  case tooManyAttributes(limit: Int, offset: Int)
}

extension MarkupError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .empty:
      "The document is empty."
    case .tooLarge(let byteCount, let limit):
      "The document has \(byteCount) bytes; at most \(limit) are accepted."
    case .unsupportedEncoding:
      "The document is not in UTF-8, the only accepted encoding."
    case .unsupportedMarkup(let offset):
      "The document has a processing instruction or declares entities at byte \(offset), which is not accepted."
    case .malformed(let reason, let line):
      "The document is not well-formed XML in line \(line): \(reason)."
    case .unclosed(let element, let line):
      "The document ends before the element <\(element.prefix(80))> of line \(line) is closed; it is truncated."
    case .noElement:
      "The document has no element; an XML document was expected."
    case .tooDeep(let limit, let line):
      "The elements in line \(line) are nested more than \(limit) levels deep."
    case .tooManyElements(let limit, let line):
      "The document has more than \(limit) elements in line \(line)."
    case .tooManyAttributes(let limit, let offset):
      "The element at byte \(offset) has more than \(limit) attributes."
    }
  }
}
