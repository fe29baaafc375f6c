import Foundation

package enum XMLPropertyListReader {
  package static func value(of bytes: [UInt8]) throws(FormatError) -> PropertyListValue {
    try value(ofDocument: MarkupReader.rootElement(of: bytes))
  }

  package static func value(ofDocument root: MarkupElement) throws(FormatError) -> PropertyListValue {
    guard root.name == "plist", root.children.count == 1 else { throw unexpected(root) }
    return try value(of: root.children[0])
  }

  private static func value(of element: MarkupElement) throws(FormatError) -> PropertyListValue {
    switch element.name {
    case "string":
      return .string(element.text)
    case "integer":
      guard let number = integer(element.text) else { throw unexpected(element) }
      return number
    case "real":
      guard let number = Double(element.trimmedText) else { throw unexpected(element) }
      return .real(number)
    case "true":
      return .boolean(true)
    case "false":
      return .boolean(false)
    case "date":
      let strategy = Date.ISO8601FormatStyle(timeZone: .gmt)
      guard let date = try? strategy.parse(element.trimmedText) else { throw unexpected(element) }
      return .date(date.timeIntervalSinceReferenceDate)
    case "data":
      guard let data = Data(base64Encoded: element.text, options: .ignoreUnknownCharacters) else {
        throw unexpected(element)
      }
      return .data(Array(data))
    case "array":
      var values: [PropertyListValue] = []
      for child in element.children { values.append(try value(of: child)) }
      return .array(values)
    case "dict":
      return .dictionary(try entries(of: element))
    default:
      throw unexpected(element)
    }
  }

  private static func entries(of element: MarkupElement) throws(FormatError) -> [String: PropertyListValue] {
    guard element.children.count.isMultiple(of: 2) else { throw unexpected(element) }
    var values: [String: PropertyListValue] = [:]
    for index in stride(from: 0, to: element.children.count, by: 2) {
      let key = element.children[index]
      guard key.name == "key", values.updateValue(try value(of: element.children[index + 1]), forKey: key.text) == nil
      else { throw unexpected(key) }
    }
    return values
  }

  private static func integer(_ text: String) -> PropertyListValue? {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let number = text.hasPrefix("0x") ? Int64(text.dropFirst(2), radix: 16) : Int64(text)
    if let number { return .integer(number) }
    return UInt64(text).map { .wideInteger(high: 0, low: $0) }
  }

  private static func unexpected(_ element: MarkupElement) -> FormatError {
    FormatError(
      .line(element.line),
      "The element <\(element.name.prefix(80))> has no place or no valid content there in a property list.")
  }
}

extension MarkupElement {
  fileprivate var trimmedText: String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}

extension PropertyListValue {
  package init(contentsOf bytes: [UInt8]) throws(FormatError) {
    if BinaryPropertyListReader.recognizes(bytes) {
      self = try BinaryPropertyListReader(bytes).value()
    } else {
      self = try XMLPropertyListReader.value(of: bytes)
    }
  }
}
