import HeirloomModel

/// Functions stay registered: SQLite can't replace one while a statement has rows left.
final class ExpressionFunctions {
  private unowned let connection: Connection
  private var names: [String: String] = [:]
  /// SQLite passes on only its text.
  private var failure: (any Error)?

  init(connection: Connection) {
    self.connection = connection
  }

  /// Equal words, argument counts and keys are one function; `nil` always registers a new one.
  func name(
    _ word: String, key: String?, argumentCount: Int,
    _ body: @escaping (borrowing FunctionArguments) throws -> SQLiteValue
  ) throws(SQLiteError) -> String {
    let unique = key.map { "\(word)(\(argumentCount)) \($0)" } ?? "\(names.count)"
    if let name = names[unique] { return name }
    let name = "heirloom_\(word)_\(names.count + 1)"
    try connection.registerFunction(
      name, argumentCount: Int32(clamping: argumentCount), isDeterministic: key != nil
    ) { [weak self] arguments in
      do {
        return try body(arguments)
      } catch {
        self?.failure = error
        throw error
      }
    }
    names[unique] = name
    return name
  }

  func textFunction(_ function: TextFunctionOnBytes) throws(SQLiteError) -> String {
    try name(function.rawValue, key: "", argumentCount: 1) { arguments in
      guard arguments.storageClass(at: 0) != .null else { return .null }
      return arguments.withBytes(at: 0, function.apply)
    }
  }

  func partFunction(isFirst: Bool, separator: [UInt8]) throws(SQLiteError) -> String {
    try name(isFirst ? "first_part" : "last_part", key: "\(separator)", argumentCount: 1) { arguments in
      guard arguments.storageClass(at: 0) != .null else { return .null }
      return arguments.withBytes(at: 0) { bytes in
        .text(String(decoding: Self.part(of: bytes, isFirst: isFirst, separator), as: UTF8.self))
      }
    }
  }

  private static func part(
    of bytes: UnsafeRawBufferPointer, isFirst: Bool, _ separator: [UInt8]
  ) -> Slice<UnsafeRawBufferPointer> {
    var start = 0
    var index = 0
    // The search runs from the start even for the last part, since occurrences may overlap.
    while index + separator.count <= bytes.count {
      guard bytes[index] == separator[0], bytes[index..<index + separator.count].elementsEqual(separator) else {
        index += 1
        continue
      }
      if isFirst { return bytes[..<index] }
      index += separator.count
      start = index
    }
    return bytes[start...]
  }

  func takeFailure() -> (any Error)? {
    defer { failure = nil }
    return failure
  }
}

enum TextFunctionOnBytes: String {
  case length, uppercase, lowercase, canonical

  init?(selector: String) {
    guard selector.hasSuffix(":"), let found = Self(rawValue: String(selector.dropLast())) else { return nil }
    self = found
  }

  var kind: ValueKind { self == .length ? .integer : .string }

  func apply(_ bytes: UnsafeRawBufferPointer) -> SQLiteValue {
    if self == .length { return .integer(Self.utf16Count(bytes)) }
    let text = String(decoding: bytes, as: UTF8.self)
    switch self {
    case .length: return .null
    case .uppercase: return .text(text.uppercased())
    case .lowercase: return .text(text.lowercased())
    case .canonical: return .text(text.foldedCanonically)
    }
  }

  private static func utf16Count(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    var isASCII: UInt8 = 0
    for byte in bytes { isASCII |= byte }
    // Bytes that are not UTF-8 count as the characters that replace them.
    if isASCII & 0x80 != 0 { return Int64(String(decoding: bytes, as: UTF8.self).utf16.count) }
    return Int64(bytes.count)
  }
}
