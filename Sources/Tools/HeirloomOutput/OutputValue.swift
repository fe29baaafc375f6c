package import Heirloom

/// A value of the tool's JSON output; members keep their order.
package indirect enum OutputValue: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  /// Text of bounded length; a longer one, such as a name of 50 MB, is truncated in the middle.
  case text(String)
  /// Text that is never truncated, such as SQL.
  case source(String)
  case list([OutputValue])
  case object(OutputMembers)

  package static func optional(_ text: String?) -> OutputValue {
    text.map { .text($0) } ?? .null
  }

  package static func optional(_ number: Int64?) -> OutputValue {
    number.map { .integer($0) } ?? .null
  }

  /// Members are sorted by name.
  package init(_ value: JSONValue) {
    switch value {
    case .null: self = .null
    case .boolean(let value): self = .boolean(value)
    case .integer(let number): self = .integer(number)
    case .double(let number): self = .number(number)
    case .string(let text): self = .text(text)
    case .array(let values): self = .list(values.map(OutputValue.init))
    case .object(let members):
      var output = OutputMembers()
      for name in members.keys.ordered() {
        output.append(name, OutputValue(members[name] ?? .null))
      }
      self = .object(output)
    }
  }

  package static func texts(_ texts: [String]) -> OutputValue {
    .list(texts.map { .text($0) })
  }

  /// Indented, with a line end.
  package var json: String {
    var writer = CanonicalJSONWriter(isIndented: true)
    write(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }

  /// On one line, with a line end.
  package var line: String {
    var writer = CanonicalJSONWriter(isIndented: false)
    write(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }

  private func write(to writer: inout CanonicalJSONWriter) {
    switch self {
    case .null: writer.null()
    case .boolean(let value): writer.boolean(value)
    case .integer(let value): writer.integer(value)
    case .number(let value): writer.double(value)
    case .text(let value): writer.string(PlainText.cut(value, to: 100_000))
    case .source(let value): writer.string(value)
    case .list(let values):
      writer.beginArray()
      for value in values { value.write(to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for (name, value) in zip(members.names, members.values) {
        writer.key(name)
        value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

/// In output order.
package struct OutputMembers: ExpressibleByArrayLiteral, Sendable {
  package private(set) var names: [String] = []
  /// One for each name.
  package private(set) var values: [OutputValue] = []

  package init(arrayLiteral elements: (String, OutputValue)...) {
    for (name, value) in elements { append(name, value) }
  }

  package mutating func append(_ name: String, _ value: OutputValue) {
    names.append(name)
    values.append(value)
  }

  /// Null if there is no such member.
  package subscript(_ name: String) -> OutputValue {
    names.firstIndex(of: name).map { values[$0] } ?? .null
  }

  /// The list is created if it is missing.
  package mutating func add(_ texts: [String], to name: String) {
    guard let position = names.firstIndex(of: name), case .list(let values) = values[position] else {
      return append(name, .texts(texts))
    }
    self.values[position] = .list(values + texts.map { .text($0) })
  }

  package static func + (left: OutputMembers, right: OutputMembers) -> OutputMembers {
    var result = left
    for (name, value) in zip(right.names, right.values) { result.append(name, value) }
    return result
  }
}
