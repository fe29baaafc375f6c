package import HeirloomModel

package enum ValueCoding {
  package enum EncodingProblem: Error, Hashable, Sendable {
    case wrongKind
    case unstorable
  }

  /// The attribute may be the leaf of a composite one.
  package static func encode(
    _ value: AttributeValue?, for attribute: AttributeDescription
  ) throws(EncodingProblem) -> SQLiteValue {
    guard let value else { return .null }
    switch (attribute.type, value) {
    case (.integer16, .integer(let integer)):
      guard Int16(exactly: integer) != nil else { throw .unstorable }
      return .integer(integer)
    case (.integer32, .integer(let integer)):
      guard Int32(exactly: integer) != nil else { throw .unstorable }
      return .integer(integer)
    case (.integer64, .integer(let integer)):
      return .integer(integer)
    case (.boolean, .boolean(let flag)):
      return .integer(flag ? 1 : 0)
    case (.double, .double(let number)), (.float, .double(let number)), (.date, .date(let number)):
      // SQLite would store NaN as `NULL`.
      guard !number.isNaN else { throw .unstorable }
      return .real(number)
    case (.decimal, .decimal(let text)):
      guard let number = Double(text), number.isFinite else { throw .unstorable }
      return .real(number)
    case (.string, .string(let text)), (.uri, .uri(let text)):
      return .text(text)
    case (.uuid, .uuid(let bytes)):
      guard bytes.count == 16 else { throw .unstorable }
      return .blob(bytes)
    case (.binary, .binary(let bytes)), (.transformable, .binary(let bytes)):
      return .blob(attribute.allowsExternalBinaryDataStorage ? ExternalStorage.inline(bytes).bytes : bytes)
    default:
      throw .wrongKind
    }
  }

  package enum Decoded: Hashable, Sendable {
    case value(AttributeValue?)
    case externalFile(String)
    case undecodable
  }

  package static func decode(_ stored: SQLiteValue, for attribute: AttributeDescription) -> Decoded {
    if stored == .null { return .value(nil) }
    switch attribute.type {
    case .integer16, .integer32, .integer64:
      return number(stored).map { .value(.integer($0)) } ?? .undecodable
    case .boolean:
      return number(stored).map { .value(.boolean($0 != 0)) } ?? .undecodable
    case .double, .float:
      return real(stored).map { .value(.double($0)) } ?? .undecodable
    case .date:
      return real(stored).map { .value(.date($0)) } ?? .undecodable
    case .decimal:
      return decimal(stored).map { .value(.decimal($0)) } ?? .undecodable
    case .string:
      return stored.text.map { .value(.string($0)) } ?? .undecodable
    case .uri:
      return stored.text.map { .value(.uri($0)) } ?? .undecodable
    case .uuid:
      guard case .blob(let bytes) = stored, bytes.count == 16 else { return .undecodable }
      return .value(.uuid(bytes))
    case .binary, .transformable:
      guard case .blob(let bytes) = stored else { return .undecodable }
      guard attribute.allowsExternalBinaryDataStorage else { return .value(.binary(bytes)) }
      switch ExternalStorage(bytes) {
      case .inline(let data): return .value(.binary(data))
      case .file(let name): return .externalFile(name)
      case nil: return .undecodable
      }
    case .undefined, .objectID, .composite:
      return .undecodable
    }
  }

  private static func number(_ stored: SQLiteValue) -> Int64? {
    switch stored {
    case .integer(let integer): integer
    case .real(let real): Int64(exactly: real)
    default: nil
    }
  }

  private static func real(_ stored: SQLiteValue) -> Double? {
    switch stored {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: nil
    }
  }

  private static func decimal(_ stored: SQLiteValue) -> String? {
    switch stored {
    case .integer(let integer):
      return "\(integer)"
    case .real(let real) where real.isFinite:
      let text = "\(real)"
      return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    default:
      return nil
    }
  }
}
