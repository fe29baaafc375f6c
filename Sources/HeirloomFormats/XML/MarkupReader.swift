import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Safe on hostile input: nothing outside a document is loaded, and entities can't be declared.
package enum MarkupReader {
  package struct Limits: Hashable, Sendable {
    package var byteCount: Int = 16 << 20
    package var depth: Int = 128
    /// Parsers compare each attribute of an element with all others.
    package var attributeCount: Int = 500
    package var elementCount: Int = 300_000

    package init() {}
  }

  package static func rootElement(
    of bytes: [UInt8], limits: Limits = Limits()
  ) throws(FormatError) -> MarkupElement {
    guard !bytes.isEmpty else { throw FormatError("The document is empty.") }
    let limit = limits.byteCount
    guard bytes.count <= limit else {
      throw FormatError("The document has \(bytes.count) bytes; at most \(limit) are accepted.")
    }
    do throws(FormatError) {
      return try parsed(bytes, limits)
    } catch {
      throw conflict(in: bytes) ?? error
    }
  }

  /// The error for the first Git merge conflict marker.
  static func conflict(in bytes: [UInt8]) -> FormatError? {
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let start = line.prefix(7)
      guard start.count == 7, let first = start.first, [0x3C, 0x3D, 0x3E].contains(first),
        start.allSatisfy({ $0 == first }), [nil, 0x20, 0x0D].contains(line.dropFirst(7).first)
      else { continue }
      let mark = String(decoding: start, as: UTF8.self)
      return FormatError(
        .line(index + 1),
        "The line begins with \(mark), a Git merge conflict marker: two branches changed the same lines. Resolve the"
          + " conflict, and delete the lines with <<<<<<<, ======= and >>>>>>>.")
    }
    return nil
  }

  private static func parsed(_ bytes: [UInt8], _ limits: Limits) throws(FormatError) -> MarkupElement {
    guard isUTF8(bytes) else {
      throw FormatError("The document is not in UTF-8, the only accepted encoding.")
    }
    try refuseUnsupportedMarkup(in: bytes, limits)
    let parser = XMLParser(data: Data(bytes))
    let builder = TreeBuilder(limits: limits)
    parser.delegate = builder
    parser.shouldResolveExternalEntities = false
    parser.externalEntityResolvingPolicy = .never
    let succeeded = parser.parse()
    if let error = builder.error { throw error }
    if let open = builder.stack.last { throw .unclosed(open) }
    // On Linux, the parser reports success for a truncated document, so the parsed elements decide.
    guard succeeded, parser.parserError == nil else {
      let reason = builder.root == nil ? "it has no element" : "something follows the outermost element"
      throw .malformed(reason: reason, line: max(parser.lineNumber, 1))
    }
    guard let root = builder.root else {
      throw FormatError("The document has no element; an XML document was expected.")
    }
    return root
  }

  /// Another encoding could hide the markup that is checked before parsing.
  private static func isUTF8(_ bytes: [UInt8]) -> Bool {
    guard position(of: 0, in: bytes, from: 0) == nil, String(wellFormedUTF8: bytes) != nil else {
      return false
    }
    let start = String(decoding: bytes.prefix(256), as: UTF8.self)
    guard start.hasPrefix("<?xml") || start.hasPrefix("\u{FEFF}<?xml"),
      let declaration = start.split(separator: "?>", maxSplits: 1).first,
      let value = declaration.split(separator: "encoding", maxSplits: 1).dropFirst().first
    else { return true }
    let name = value.drop { $0 == " " || $0 == "=" || $0 == "\"" || $0 == "'" || $0.isNewline || $0 == "\t" }
    return ["utf-8", "utf8", "us-ascii", "ascii"].contains { name.lowercased().hasPrefix($0) }
  }

  /// Runs before the parser: entities can expand exponentially, and FoundationXML on Linux crashes
  /// on `<?a?>`, where it reads the length of missing data.
  private static func refuseUnsupportedMarkup(
    in bytes: [UInt8], _ limits: Limits
  ) throws(FormatError) {
    var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    // The XML declaration is the only markup of this form that is allowed, and only at the start.
    let declaration = Array("<?xml".utf8)
    let afterDeclaration = start + declaration.count
    if bytes[start...].starts(with: declaration), afterDeclaration < bytes.count,
      [0x20, 0x09, 0x0A, 0x0D].contains(bytes[afterDeclaration])
    {
      start = afterDeclaration
    }
    var hasType = false
    while let position = position(of: UInt8(ascii: "<"), in: bytes, from: start) {
      start = position + 1
      let rest = bytes[start...]
      switch rest.first {
      case UInt8(ascii: "?"):
        throw .unsupportedMarkup(line: line(of: position, in: bytes))
      case UInt8(ascii: "!"):
        if rest.starts(with: "!--".utf8) {
          start = try end(ofSectionAt: position, of: 4, by: "--", in: bytes)
          continue
        }
        if rest.starts(with: "![CDATA[".utf8) {
          start = try end(ofSectionAt: position, of: 9, by: "]]", in: bytes)
          continue
        }
        // A document type may refer to an external definition, which is not loaded, but not contain one.
        let end = rest.firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex
        // A second one is invalid, and searching for the end of each would take quadratic time.
        guard rest.starts(with: "!DOCTYPE".utf8), !hasType, !rest[..<end].contains(UInt8(ascii: "[")) else {
          throw .unsupportedMarkup(line: line(of: position, in: bytes))
        }
        hasType = true
      default:
        start = try endOfTag(in: bytes, from: start, limits)
      }
    }
  }

  /// The content of a comment or CDATA section may look like markup.
  private static func end(
    ofSectionAt start: Int, of openingCount: Int, by closing: String, in bytes: [UInt8]
  ) throws(FormatError) -> Int {
    var next = start + openingCount + 2
    while let end = position(of: UInt8(ascii: ">"), in: bytes, from: next) {
      next = end + 1
      if bytes[end - 2..<end].elementsEqual(closing.utf8) { return next }
    }
    throw .malformed(
      reason: "\(closing == "--" ? "a comment" : "a section of text") begins here that no \(closing)> ends",
      line: line(of: start, in: bytes))
  }

  private static func line(of position: Int, in bytes: [UInt8]) -> Int {
    bytes[..<position].count { $0 == UInt8(ascii: "\n") } + 1
  }

  /// Attributes are counted by their quoted values.
  private static func endOfTag(in bytes: [UInt8], from start: Int, _ limits: Limits) throws(FormatError) -> Int {
    // A value can't contain the character that begins a tag.
    let next = position(of: UInt8(ascii: "<"), in: bytes, from: start) ?? bytes.count
    var (place, attributes) = (start, 0)
    while place < next {
      switch bytes[place] {
      case UInt8(ascii: ">"): return next
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        attributes += 1
        guard attributes <= limits.attributeCount else {
          throw FormatError(
            .line(line(of: start, in: bytes)), "The element has more than \(limits.attributeCount) attributes.")
        }
        place = (bytes[place + 1..<next].firstIndex(of: bytes[place]) ?? next) + 1
      default:
        place += 1
      }
    }
    let name = bytes[start..<next].prefix { $0 > 0x20 && $0 != UInt8(ascii: "=") }.prefix(80)
    let tag = "the tag <\(String(decoding: name, as: UTF8.self))> has no end"
    // The parser would report this only at the next tag.
    throw .malformed(
      reason: tag + (next < bytes.count ? ": a quotation mark or > is missing" : "; the document is truncated"),
      line: line(of: start, in: bytes))
  }

  /// Uses the C library, since unoptimised code is slow.
  private static func position(of byte: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, start < bytes.count,
        let found = memchr(base + start, Int32(byte), bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}

private final class TreeBuilder: NSObject, XMLParserDelegate {
  private(set) var stack: [MarkupElement] = []
  private(set) var root: MarkupElement?
  private(set) var error: FormatError?
  private let limits: MarkupReader.Limits
  private var elementCount = 0

  init(limits: MarkupReader.Limits) {
    self.limits = limits
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    guard error == nil else { return }
    elementCount += 1
    let line = max(parser.lineNumber, 0)
    if root != nil {
      stop(parser, .malformed(reason: "a second outermost element", line: line))
    } else if stack.count >= limits.depth {
      stop(parser, FormatError(.line(line), "The elements are nested more than \(limits.depth) levels deep."))
    } else if elementCount > limits.elementCount {
      stop(parser, FormatError(.line(line), "The document has more than \(limits.elementCount) elements."))
    } else {
      stack.append(MarkupElement(name: elementName, attributes: attributes, line: line))
    }
  }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard error == nil, let element = stack.popLast() else { return }
    guard element.name == elementName else {
      return stop(parser, .unclosed(element))
    }
    if stack.isEmpty { root = element } else { stack[stack.count - 1].children.append(element) }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    let code = (parseError as NSError).code
    // Later errors result from the first. A premature end (5) is judged by the elements parsed so far.
    guard error == nil, code != 5 else { return }
    let reason =
      switch code {
      case 9: "a character that XML doesn't allow"
      case 23, 26: "a plain & is written &amp;, and only lt, gt, amp, quot and apos are known after one"
      case 39: "the value of an attribute needs quotation marks"
      case 41: "an attribute has no = and value"
      case 42: "a duplicate attribute in a tag"
      case 65, 73: "a space, a quotation mark or the end of the tag was expected"
      case 68: "a name was expected; a plain & is written &amp;, a plain < &lt;"
      case 76:
        "an unexpected closing tag, and "
          + (stack.last.map { "<\($0.name.prefix(80))> of line \($0.line) is still open" } ?? "no element is open")
      case 80: "a comment must not contain --"
      // https://gnome.pages.gitlab.gnome.org/libxml2/html/xmlerror_8h.html
      default: "the parser's error \(code)"
      }
    error = .malformed(reason: reason, line: max(parser.lineNumber, 1))
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    guard error == nil, !stack.isEmpty else { return }
    stack[stack.count - 1].text += string
  }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    guard error == nil, !stack.isEmpty else { return }
    stack[stack.count - 1].text += String(decoding: block, as: UTF8.self)
  }

  private func stop(_ parser: XMLParser, _ error: FormatError) {
    self.error = error
    parser.abortParsing()
  }
}

extension FormatError {
  fileprivate static func unsupportedMarkup(line: Int) -> FormatError {
    FormatError(.line(line), "A processing instruction or a declaration of entities is not accepted.")
  }

  fileprivate static func malformed(reason: String, line: Int) -> FormatError {
    FormatError(.line(line), "The document is not well-formed XML: \(reason).")
  }

  fileprivate static func unclosed(_ element: MarkupElement) -> FormatError {
    FormatError(
      .line(element.line),
      "The document ends before the element <\(element.name.prefix(80))> is closed; it is truncated.")
  }
}
